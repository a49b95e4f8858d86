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
  // A traceback that outlives the interpreter's end is no leak of ours, and users can do nothing about the
  // report.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled part of kernelsearch.";
  m.attr("__version__") = KERNELSEARCH_VERSION;
  // Later ones are tried first: the base stands before what derives from it.
  nb::object error = nb::exception<kernelsearch::Error>(m, "Error", PyExc_RuntimeError);
  error.doc() =
      "Base of what the library raises; the text says what is wrong, what was given and what to do.";
  const nb::object config_bases = nb::make_tuple(error, nb::handle(PyExc_ValueError));
  nb::object config_error = nb::exception<kernelsearch::ConfigError>(m, "ConfigError", config_bases);
  config_error.doc() =
      "Something that cannot be was asked for: a wrong option, a malformed file, a misused object. A "
      "ValueError.";
  nb::object device_error = nb::exception<kernelsearch::DeviceError>(m, "DeviceError", error);
  device_error.doc() = "A device, the sandbox or another part of the machine is gone or was never there.";
  nb::object store_error = nb::exception<kernelsearch::StoreError>(m, "StoreError", error);
  store_error.doc() = "The store of runs cannot be read or written.";
  python::bind_space(m);
  python::bind_search(m);
  python::bind_recordings(m);
  python::bind_policies(m);
#if KERNELSEARCH_PYTHON_RUN
  python::bind_runs(m);
#endif
}
