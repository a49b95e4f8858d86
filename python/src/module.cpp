// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "binding.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/store_error.hpp"
#include "kernelsearch/version.hpp"

namespace kernelsearch::python {

void interruptible(const std::function<void(std::stop_token)>& work) {
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr fault;
  std::thread thread;
  // Which exception of Python asked to stop; raised once the thread has ended, whatever became of the work.
  std::optional<nb::python_error> signal;
  {
    const nb::gil_scoped_release released;
    thread = std::thread([&] {
      try {
        work(stop.get_token());
      } catch (...) {
        fault = std::current_exception();
      }
      {
        const std::scoped_lock lock(mutex);
        done = true;
      }
      ended.notify_all();
    });
    std::unique_lock lock(mutex);
    // Signals are delivered to Python's main thread only; elsewhere the check never finds any.
    while (!ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; })) {
      if (signal) continue;
      lock.unlock();
      {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
          signal.emplace();
          stop.request_stop();
        }
      }
      lock.lock();
    }
    lock.unlock();
    thread.join();
  }
  if (signal) throw nb::python_error(std::move(*signal));
  if (fault) std::rethrow_exception(fault);
}

}  // namespace kernelsearch::python

NB_MODULE(_kernelsearch, m) {
  namespace nb = nanobind;
  namespace python = kernelsearch::python;
  // A traceback that outlives the interpreter's end is no leak of ours, and users can do nothing about the report.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled part of kernelsearch.";
  m.attr("__version__") = KERNELSEARCH_VERSION;
  // Later ones are tried first: the base stands before what derives from it.
  const auto error = nb::exception<kernelsearch::Error>(m, "Error", PyExc_RuntimeError);
  const nb::object config_bases = nb::make_tuple(error, nb::handle(PyExc_ValueError));
  nb::exception<kernelsearch::ConfigError>(m, "ConfigError", config_bases);
  nb::exception<kernelsearch::DeviceError>(m, "DeviceError", error);
  nb::exception<kernelsearch::StoreError>(m, "StoreError", error);
  python::bind_space(m);
  python::bind_search(m);
  python::bind_recordings(m);
  python::bind_policies(m);
#if KERNELSEARCH_PYTHON_RUN
  python::bind_runs(m);
#endif
}
