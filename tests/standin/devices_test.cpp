// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "standin/support.hpp"

using namespace standin_test;

TEST_CASE("stand-in: devices, their names and attributes") {
  StandIn standin({{"DEVICES", "3"}, {"WARP", "32"}});
  Driver& d = *standin.driver;
  int count = 0, device = -1, value = 0;
  REQUIRE(d.init(0) == success);
  REQUIRE(d.device_count(&count) == success);
  CHECK(count == 3);
  CHECK(d.device_get(&device, 2) == success);
  CHECK(device == 2);
  CHECK(d.device_get(&device, 3) == 101);
  CHECK(d.device_use(3) == 101);
  CHECK(d.device_use(2) == success);
  char name[64] = {}, pci[16] = {};
  CHECK(d.device_name(name, sizeof name, 1) == success);
  CHECK(std::string(name) == "Stand-in of a GPU");
  CHECK(d.device_pci(pci, sizeof pci, 1) == success);
  CHECK(std::string(pci) == "0000:02:00.0");
  CHECK(d.device_pci(pci, 12, 1) == invalid_value);
  const AttributeNumbers& n = d.numbers;
  for (const int attribute :
       {n.multiprocessors, n.warp_size, n.clock_khz, n.memory_clock_khz, n.bus_bits, n.l2_bytes,
        n.shared_per_block, n.shared_per_block_optin, n.shared_per_multiprocessor,
        n.registers_per_multiprocessor, n.threads_per_multiprocessor, n.threads_per_block, n.major}) {
    CAPTURE(attribute);
    CHECK(d.device_attribute(&value, attribute, 0) == success);
    CHECK(value > 0);
  }
  CHECK(d.device_attribute(&value, n.minor, 0) == success);
  CHECK(d.device_attribute(&value, n.warp_size, 0) == success);
  CHECK(value == 32);
  CHECK(d.device_attribute(&value, n.cluster_launch, 0) == invalid_value);
  CHECK(standin.calls("hipDeviceGet") == 2);
}

TEST_CASE("stand-in: no device") {
  StandIn standin({{"DEVICES", "0"}});
  int count = 7;
  CHECK(standin.driver->init(0) == no_device);
  CHECK(standin.driver->device_count(&count) == no_device);
  CHECK(count == 0);
  CHECK(standin.driver->device_use(0) == 101);
}

TEST_CASE("stand-in: memory is allocated, copied and checked") {
  StandIn standin({{"MEMORY", "1000000"}});
  Driver& d = *standin.driver;
  std::size_t available = 0, total = 0;
  REQUIRE(d.memory_info(&available, &total) == success);
  CHECK(total == 1000000);
  CHECK(available == total);
  CHECK(d.device_memory(&total, 0) == success);
  CHECK(total == 1000000);
  const std::vector<int> values{1, 2, 3, 4, 5};
  const Address a = standin.upload(values);
  CHECK(a % 256 == 0);
  REQUIRE(d.memory_info(&available, &total) == success);
  CHECK(available == 1000000 - 20);
  Address b = 0;
  REQUIRE(d.allocate(&b, 20) == success);
  CHECK(standin.download<unsigned char>(b, 1)[0] == 0xA5);  // nothing promises zeros
  CHECK(d.copy_within(b, a, 20, nullptr) == success);
  CHECK(standin.download<int>(b, 5) == values);
  CHECK(d.set_bytes(b + 4, 0xFF, 8, nullptr) == success);
  CHECK(standin.download<int>(b, 5) == std::vector<int>{1, -1, -1, 4, 5});

  int host[6] = {};
  CHECK(d.copy_out(host, a, 21) == invalid_value);
  CHECK(d.copy_out(host, a + 20, 1) == invalid_value);
  CHECK(d.copy_out(host, a - 1, 1) == invalid_value);
  CHECK(d.copy_in(a + 17, host, 4) == invalid_value);
  CHECK(d.copy_within(a, b + 1, 20, nullptr) == invalid_value);
  CHECK(d.set_bytes(a, 0, 21, nullptr) == invalid_value);
  CHECK(d.copy_in(reinterpret_cast<Address>(host), host, 4) == invalid_value);
  CHECK(d.copy_out(host, a, 0) == success);

  Address c = 1;
  CHECK(d.allocate(&c, 1000000) == out_of_memory);
  CHECK(c == 0);
  CHECK(d.release(a + 4) == invalid_value);
  CHECK(d.release(a) == success);
  CHECK(d.release(a) == invalid_value);
  CHECK(d.copy_out(host, a, 4) == invalid_value);
  CHECK(d.release(0) == success);
  CHECK(d.pin(host, sizeof host, 0) == success);
  CHECK(d.pin(host, sizeof host, 0) != success);
  CHECK(d.unpin(host) == success);
  CHECK(d.unpin(host) != success);
}

TEST_CASE("stand-in: events time what is between them") {
  StandIn standin;
  Driver& d = *standin.driver;
  Stream stream = nullptr;
  Event first = nullptr, last = nullptr;
  REQUIRE(d.stream_create(&stream, 1) == success);
  REQUIRE(d.event_create(&first, 0) == success);
  REQUIRE(d.event_create(&last, 0) == success);
  float ms = -1;
  CHECK(d.event_elapsed(&ms, first, last) == 400);  // not recorded yet
  CHECK(d.event_record(first, stream) == success);
  CHECK(d.event_record(last, stream) == success);
  CHECK(d.stream_synchronize(stream) == success);
  CHECK(d.event_elapsed(&ms, first, last) == success);
  CHECK(ms >= 0);
  float back = 1;
  CHECK(d.event_elapsed(&back, last, first) == success);
  CHECK(back == -ms);
  CHECK(d.event_record(first, &ms) == 400);  // no stream
  CHECK(d.event_destroy(first) == success);
  CHECK(d.event_destroy(first) == 400);
  CHECK(d.event_record(first, stream) == 400);
}

TEST_CASE("stand-in: planned errors") {
  StandIn standin({{"FAIL", "hipMalloc:2:2,hipEventCreateWithFlags:1:1,hiprtcCompileProgram:1:6"}});
  Driver& d = *standin.driver;
  Address a = 0;
  CHECK(d.allocate(&a, 8) == success);
  CHECK(d.allocate(&a, 8) == out_of_memory);
  CHECK(d.allocate(&a, 8) == success);
  Event event = nullptr;
  CHECK(d.event_create(&event, 0) == invalid_value);
  CHECK(d.event_create(&event, 0) == success);
  CHECK(standin.calls("hipMalloc") == 3);
  CHECK_FALSE(standin.compiler->compile("extern \"C\" __global__ void f() {}", {}, {"f"}).ok);
  CHECK(standin.compiler->compile("extern \"C\" __global__ void f() {}", {}, {"f"}).ok);
}

TEST_CASE("stand-in: a planned sticky error stays") {
  StandIn standin({{"FAIL", "hipStreamSynchronize:2:719"}});
  Driver& d = *standin.driver;
  Address a = 0;
  CHECK(d.stream_synchronize(nullptr) == success);
  CHECK(d.allocate(&a, 8) == success);
  CHECK(d.stream_synchronize(nullptr) == launch_failed);
  CHECK(d.allocate(&a, 8) == launch_failed);
  CHECK(d.synchronize() == launch_failed);
  CHECK(d.describe(launch_failed) == "hip error (719): unspecified launch failure");
}
