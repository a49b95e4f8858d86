// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/serve/store_server.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/run_notes.hpp"
#include "serve/request_target.hpp"
#include "support/stored_run.hpp"

using namespace kernelsearch;

namespace {

/// A connection by sockets alone, so that a misreading of HTTP does not cancel out.
class Connection {
 public:
  explicit Connection(std::uint16_t port, const char* address = "127.0.0.1")
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    inet_pton(AF_INET, address, &to.sin_addr);
    const timeval patience{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(socket_); }

  [[nodiscard]] bool connected() const { return connected_; }
  void send(const std::string& text) const { (void)!::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }
  /// What comes until `word` is in it, or the other end closes.
  std::string read(const std::string& word = {}) {
    char buffer[65536];
    while (word.empty() || text_.find(word) == std::string::npos) {
      const ssize_t size = ::recv(socket_, buffer, sizeof buffer, 0);
      if (size <= 0) break;
      text_.append(buffer, static_cast<std::size_t>(size));
    }
    return text_;
  }
  void forget() { text_.clear(); }

 private:
  int socket_;
  bool connected_ = false;
  std::string text_;
};

struct Served {
  explicit Served(StoreServerOptions options = {}) {
    options.stores = {stored.store.file()};
    options.token = "secret";
    server.emplace(std::move(options));
    thread = std::jthread([this](const std::stop_token& stop) { server->serve(stop); });
  }

  std::string get(const std::string& target, const std::string& host = "", const std::string& verb = "GET",
                  const std::string& more = "") const {
    Connection connection(server->port());
    connection.send(verb + " " + target + " HTTP/1.1\r\nHost: " +
                    (host.empty() ? "127.0.0.1:" + std::to_string(server->port()) : host) + "\r\n" + more +
                    "Content-Length: 0\r\n\r\n");
    return connection.read();
  }
  static std::string body(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }
  static bool is(const std::string& answer, int status) {
    return answer.rfind("HTTP/1.1 " + std::to_string(status) + " ", 0) == 0;
  }

  StoredRun stored;
  std::optional<StoreServer> server;
  std::jthread thread;
};

}  // namespace

TEST_CASE("StoreServer: the page, the runs and their reports, for who knows the token") {
  const Served served;
  CHECK(served.server->address() ==
        "http://127.0.0.1:" + std::to_string(served.server->port()) + "/?token=secret");
  const std::string page = served.get("/?token=secret");
  CHECK(Served::is(page, 200));
  CHECK(page.find("connect-src 'self'") != std::string::npos);
  CHECK(page.find("X-Content-Type-Options: nosniff") != std::string::npos);
  CHECK(page.find("{\"control\": false}") != std::string::npos);
  const auto runs = nlohmann::json::parse(Served::body(served.get("/api/runs?token=secret")));
  CHECK(runs["runs"][0]["key"] == "0.1");
  CHECK(runs["runs"][0]["trials"] == 4);
  const auto report =
      nlohmann::json::parse(Served::body(served.get("/api/report?runs=0.1,0.1&token=secret")));
  CHECK(report["runs"].size() == 2);
  CHECK(report["runs"][0]["winner"] == 1);
}

TEST_CASE("StoreServer: 403 without the token, and for a name that was pointed at this machine") {
  const Served served;
  for (const char* target : {"/", "/?token=", "/?token=secreT", "/?token=secret2", "/api/runs", "/api/events",
                             "/api/report?runs=0.1", "/?Token=secret"}) {
    CAPTURE(target);
    const std::string answer = served.get(target);
    CHECK(Served::is(answer, 403));
    CHECK(answer.find("axpy") == std::string::npos);
  }
  CHECK(Served::is(served.get("/?token=secret", "attacker.example"), 403));
  CHECK(Served::is(served.get("/?token=secret", "127.0.0.1:1"), 403));
  CHECK(Served::is(served.get("/?token=secret", "localhost:" + std::to_string(served.server->port())), 200));
}

TEST_CASE("StoreServer: what is not there, and what is not to be done") {
  const Served served;
  CHECK(Served::is(served.get("/api/report?runs=0.7&token=secret"), 404));
  CHECK(Served::is(served.get("/api/report?runs=9.1&token=secret"), 404));
  CHECK(Served::is(served.get("/api/report?runs=latest&token=secret"), 404));
  CHECK(Served::is(served.get("/api/report?runs=99999999999999999999.1&token=secret"), 404));
  CHECK(Served::is(served.get("/etc/passwd?token=secret"), 404));
  CHECK(Served::is(served.get("/?token=secret", "", "DELETE"), 405));
  CHECK(Served::is(
      served.get("/api/control?run=0.1&action=stop&token=secret", "", "POST", "X-Kernelsearch: control\r\n"),
      403));
  CHECK_THROWS_AS(StoreServer({.stores = {}}), ConfigError);
}

TEST_CASE("StoreServer: runs are controlled only where it was allowed, and never by a form of another page") {
  std::string asked;
  StoreServerOptions options;
  options.control = [&asked](const RunStore&, RunId run, const std::string& action,
                             const std::string& budget) {
    asked = std::to_string(number(run)) + " " + action + " " + budget;
    return std::string("told <it>");
  };
  const Served served(std::move(options));
  const std::string target = "/api/control?run=0.1&action=resume&budget=60s&token=secret";
  CHECK(Served::is(served.get(target, "", "POST"), 403));
  CHECK(asked.empty());
  const std::string answer = served.get(target, "", "POST", "X-Kernelsearch: control\r\n");
  CHECK(Served::is(answer, 200));
  CHECK(asked == "1 resume 60s");
  CHECK(nlohmann::json::parse(Served::body(answer))["told"] == "told <it>");
  CHECK(served.get("/?token=secret").find("{\"control\": true}") != std::string::npos);
}

TEST_CASE("StoreServer: what runs do at the moment and how busy the machine is, as text") {
  StoreServerOptions options;
  options.now = [](const std::filesystem::path&) {
    return std::vector<ServedNow>{{RunId{1}, 4711, "measuring \x1b[2J", true, 0.12345, 61.7}};
  };
  options.machine = [] { return ServedMachine{1.26, 8, {"core 3: process 12 \x1b"}}; };
  const Served served(std::move(options));
  const auto now = nlohmann::json::parse(Served::body(served.get("/api/now?token=secret")));
  const auto& run = now["runs"]["0.1"];
  CHECK(run["process"] == 4711);
  CHECK(run["doing"] == "measuring \xef\xbf\xbd[2J");
  CHECK(run["paused"] == true);
  CHECK(run["filled"] == 0.123);
  CHECK(run["left"] == 62);
  CHECK(now["machine"]["load"] == 1.3);
  CHECK(now["machine"]["processors"] == 8);
  CHECK(now["machine"]["held"][0] == "core 3: process 12 \xef\xbf\xbd");
  CHECK(Served::is(served.get("/api/now"), 403));
  Connection events(served.server->port());
  events.send("GET /api/events?token=secret HTTP/1.1\r\nHost: 127.0.0.1:" +
              std::to_string(served.server->port()) + "\r\n\r\n");
  CHECK(events.read("event: now\ndata: {").find("event: now") != std::string::npos);
  const auto nothing = nlohmann::json::parse(Served::body(Served().get("/api/now?token=secret")));
  CHECK(nothing["runs"].empty());
  CHECK(nothing["machine"].is_null());
}

TEST_CASE("StoreServer: tags and notes are kept beside the store, where runs may be controlled") {
  const std::string body = R"({"tags": ["good", "<b>"], "note": "as \u001b said"})";
  const auto post = [](const Served& served, const std::string& text, const std::string& more) {
    Connection connection(served.server->port());
    connection.send("POST /api/note?run=0.1&token=secret HTTP/1.1\r\nHost: 127.0.0.1:" +
                    std::to_string(served.server->port()) + "\r\n" + more +
                    "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
    return connection.read();
  };
  const std::string header = "X-Kernelsearch: control\r\n";
  {
    const Served reading;
    CHECK(Served::is(post(reading, body, header), 403));
    CHECK_FALSE(std::filesystem::exists(RunNotes(reading.stored.store.file()).folder()));
  }
  StoreServerOptions options;
  options.control = [](const RunStore&, RunId, const std::string&, const std::string&) { return ""; };
  const Served served(std::move(options));
  CHECK(Served::is(post(served, body, ""), 403));
  CHECK(Served::is(post(served, "[]", header), 400));
  CHECK(Served::is(post(served, R"({"tags": ["a,b"], "note": ""})", header), 400));
  CHECK(Served::is(post(served, R"({"tags": [], "note": ")" + std::string(4001, 'x') + "\"}", header), 400));
  Connection events(served.server->port());
  events.send("GET /api/events?token=secret HTTP/1.1\r\nHost: 127.0.0.1:" +
              std::to_string(served.server->port()) + "\r\n\r\n");
  events.read("\"tags\":[]");
  const std::string answer = post(served, body, header);
  CHECK(Served::is(answer, 200));
  CHECK(nlohmann::json::parse(Served::body(answer))["note"] == "as \xef\xbf\xbd said");
  CHECK(events.read("\"good\"").find("\"tags\":[\"good\",\"<b>\"]") != std::string::npos);
  const auto runs = nlohmann::json::parse(Served::body(served.get("/api/runs?token=secret")));
  CHECK(runs["runs"][0]["tags"] == nlohmann::json({"good", "<b>"}));
}

TEST_CASE("StoreServer: events tell of each trial, and nobody else's address is listened on") {
  Served served;
  Connection events(served.server->port());
  events.send("GET /api/events?token=secret HTTP/1.1\r\nHost: 127.0.0.1:" +
              std::to_string(served.server->port()) + "\r\n\r\n");
  CHECK(events.read("\"trials\":4").find("Content-Type: text/event-stream") != std::string::npos);
  events.forget();
  served.stored.add(4, 1, StoredRun::trial_of(5e-4, {}, 8.0));
  CHECK(events.read("\"trials\":5").find("\"best\":0.0005") != std::string::npos);
  CHECK_FALSE(Connection(served.server->port(), "127.0.0.2").connected());
}

TEST_CASE("StoreServer: it ends while peers say nothing, say nonsense, or listen") {
  Served served;
  const Connection silent(served.server->port());
  Connection odd(served.server->port());
  odd.send("\x16\x03\x01 this is no HTTP\r\n\r\n");
  CHECK(odd.read().find("axpy") == std::string::npos);
  Connection listening(served.server->port());
  listening.send("GET /api/events?token=secret HTTP/1.1\r\nHost: 127.0.0.1:" +
                 std::to_string(served.server->port()) + "\r\n\r\n");
  listening.read("data:");
  served.thread.request_stop();
  served.thread.join();
  CHECK(listening.read().size() > 0);
}

TEST_CASE("parse_target: paths and values as they were meant, odd ones as they are") {
  const auto target = detail::parse_target("/api/run%20s?a=1&b=x%41+y&a=2&c&d=%zz%4&e=1%2B1");
  CHECK(target.path == "/api/run s");
  CHECK(target.value("a") == "1");
  CHECK(target.value("b") == "xA y");
  CHECK(target.value("c").empty());
  CHECK(target.value("d") == "%zz%4");
  CHECK(target.value("e") == "1+1");
  CHECK(detail::equal_secrets("abc", "abc"));
  CHECK_FALSE(detail::equal_secrets("abc", "abd"));
  CHECK_FALSE(detail::equal_secrets("", "abd"));
  CHECK_FALSE(detail::equal_secrets("abc", ""));
  CHECK_FALSE(detail::equal_secrets("abcabc", "abc"));
}
