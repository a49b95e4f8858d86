// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/serve/store_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cmath>
#include <list>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/report/front.hpp"
#include "kernelsearch/report/render_report.hpp"
#include "kernelsearch/store/run_notes.hpp"
#include "request_target.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using Json = nlohmann::ordered_json;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;
using boost::system::error_code;

constexpr std::size_t most_connections = 64;
constexpr auto poll_interval = std::chrono::milliseconds(200);
constexpr int now_rounds = 2;  // polls until the process that works on a run is looked at again

std::string random_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 8; ++i) token += fmt::format("{:08x}", random());
  return token;
}

/// What changes in a store's files with every trial that is told, and next to it with every note.
struct FileMark {
  fs::file_time_type file, log;
  std::uintmax_t log_size = 0;
  fs::file_time_type notes;
  friend bool operator==(const FileMark&, const FileMark&) = default;
};
FileMark mark_of(const fs::path& store) {
  FileMark mark;
  std::error_code error;
  mark.file = fs::last_write_time(store, error);
  const fs::path log = store.string() + "-wal";
  mark.log = fs::last_write_time(log, error);
  mark.log_size = fs::file_size(log, error);
  mark.notes = fs::last_write_time(RunNotes(store).folder(), error);
  return mark;
}

std::string key_of(std::size_t store, RunId run) {
  return fmt::format("{}.{}", store, number(run));
}

Json row_json(std::size_t store, const RunRow& row, const RunNote& note) {
  return {{"key", key_of(store, row.id)},
          {"id", number(row.id)},
          {"name", clean_text(row.info.name)},
          {"problem", clean_text(row.info.problem)},
          {"policy", clean_text(row.info.policy)},
          {"device", clean_text(row.info.device)},
          {"started", clean_text(row.started)},
          {"finished", row.finished.has_value()},
          {"reason", clean_text(row.reason)},
          {"seconds", row.seconds},
          {"trials", row.trials},
          {"best", row.best && objectives_of(row.info).only_time() ? Json(*row.best) : Json()},
          {"tags", note.tags},
          {"note", note.text}};
}

/// Rounded to what people read, so that it changes no more often than that.
Json now_json(const ServedNow& now) {
  return {{"process", now.process},
          {"doing", clean_text(now.doing)},
          {"paused", now.paused},
          {"filled", now.filled ? Json(std::round(*now.filled * 1000) / 1000) : Json()},
          {"left", now.left ? Json(std::round(*now.left)) : Json()}};
}

Response response(http::status status, const char* type, std::string body) {
  Response out(status, 11);
  out.set(http::field::content_type, type);
  out.set(http::field::cache_control, "no-store");
  out.set("X-Content-Type-Options", "nosniff");
  out.set("X-Frame-Options", "DENY");
  out.set("Referrer-Policy", "no-referrer");
  out.keep_alive(false);
  out.body() = std::move(body);
  out.prepare_payload();
  return out;
}

Response refused(http::status status, std::string why) {
  return response(status, "text/plain; charset=utf-8", std::move(why) + "\n");
}

Response json_response(std::string text) {
  return response(http::status::ok, "application/json", std::move(text));
}

}  // namespace

class StoreServer::Impl {
 public:
  explicit Impl(StoreServerOptions options) : options_(std::move(options)), acceptor_(io_) {
    if (options_.token.empty()) options_.token = random_token();
    if (options_.stores.empty()) detail::raise<ConfigError>("there is no store to serve", "none", "name one");
    for (const fs::path& store : options_.stores)
      stores_.emplace_back(store, StoreOptions{.only_read = true});
    const tcp::endpoint here(boost::asio::ip::address_v4::loopback(), options_.port);
    error_code error;
    acceptor_.open(here.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(here, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    if (error)
      detail::raise<ConfigError>("the port cannot be listened on", std::to_string(options_.port),
                                 error.message() + ": leave out --port, or name a free one");
    port_ = acceptor_.local_endpoint().port();
    acceptor_.non_blocking(true);
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string address() const {
    return fmt::format("http://127.0.0.1:{}/?token={}", port_, options_.token);
  }

  void serve(const std::stop_token& stop) {
    std::list<Worker> workers;
    while (!stop.stop_requested()) {
      workers.remove_if([](const Worker& worker) { return worker.done->load(); });
      error_code error;
      tcp::socket socket(io_);
      acceptor_.accept(socket, error);
      if (error) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        continue;
      }
      if (workers.size() >= most_connections) continue;  // closes it
      auto done = std::make_shared<std::atomic<bool>>(false);
      auto peer = std::make_shared<tcp::socket>(std::move(socket));
      workers.push_back({done, peer, std::jthread([this, stop, done, peer] {
                           try {
                             answer(*peer, stop);
                           } catch (const std::exception&) {  // a peer that is gone does not end the server
                           }
                           error_code ignored;
                           peer->shutdown(tcp::socket::shutdown_both, ignored);
                           done->store(true);
                         })});
    }
    // Those that wait for their peers end now.
    for (const Worker& worker : workers) ::shutdown(worker.peer->native_handle(), SHUT_RDWR);
  }

 private:
  struct Worker {
    std::shared_ptr<std::atomic<bool>> done;
    std::shared_ptr<tcp::socket> peer;
    std::jthread thread;
  };

  void answer(tcp::socket& peer, const std::stop_token& stop) {
    peer.non_blocking(false);
    http::request_parser<http::string_body> parser;
    parser.header_limit(16 << 10);
    parser.eager(true);           // what came with the header is read with it
    parser.body_limit(32 << 10);  // a note of 4000 bytes, as JSON at its longest
    if (!read_request(peer, parser)) return;
    const Request& request = parser.get();
    const detail::RequestTarget target =
        detail::parse_target({request.target().data(), request.target().size()});
    if (may_ask(request, target) && target.path == "/api/events" && request.method() == http::verb::get)
      return send_events(peer, stop);
    Response out = reply(request, target);
    error_code error;
    http::write(peer, out, error);
  }

  /// False where it is malformed, or not whole within ten seconds: some connect and say nothing.
  static bool read_request(tcp::socket& peer, http::request_parser<http::string_body>& parser) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    boost::beast::flat_buffer buffer;
    error_code error;
    while (!parser.is_done()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      pollfd ready{peer.native_handle(), POLLIN, 0};
      if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return false;
      buffer.commit(peer.read_some(buffer.prepare(4096), error));
      if (error) return false;
      buffer.consume(parser.put(buffer.data(), error));
      if (error && error != http::error::need_more) return false;
    }
    return true;
  }

  [[nodiscard]] bool may_ask(const Request& request, const detail::RequestTarget& target) const {
    const auto host = request[http::field::host];
    return detail::is_own_host({host.data(), host.size()}, port_) &&
           detail::equal_secrets(target.value("token"), options_.token);
  }

  Response reply(const Request& request, const detail::RequestTarget& target) {
    if (!may_ask(request, target))
      return refused(http::status::forbidden,
                     "403: open the address that `kernelsearch serve` printed, with its token");
    try {
      if (request.method() == http::verb::post && target.path == "/api/control")
        return control(request, target);
      if (request.method() == http::verb::post && target.path == "/api/note") return note(request, target);
      if (request.method() != http::verb::get)
        return refused(http::status::method_not_allowed, "405: only read");
      if (target.path == "/")
        return response(http::status::ok, "text/html; charset=utf-8",
                        live_page(options_.token, options_.control != nullptr));
      if (target.path == "/api/runs") return json_response(runs_text());
      if (target.path == "/api/now") return json_response(now_text());
      if (target.path == "/api/report") return json_response(reports_text(target.value("runs")));
    } catch (const Error& error) {
      return refused(http::status::not_found, std::string("404: ") + error.what());
    } catch (const std::exception& error) {
      return refused(http::status::internal_server_error, std::string("500: ") + error.what());
    }
    return refused(http::status::not_found, "404: there is no such page");
  }

  [[nodiscard]] std::string runs_text() const {
    Json runs = Json::array(), stores = Json::array();
    for (std::size_t s = 0; s < stores_.size(); ++s) {
      stores.push_back(clean_text(stores_[s].file().string()));
      const RunNotes notes(stores_[s].file());
      for (const RunRow& row : stores_[s].runs()) runs.push_back(row_json(s, row, notes.of(row)));
    }
    const Json out{{"stores", std::move(stores)}, {"runs", std::move(runs)}};
    return out.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  /// What runs do and what the machine is busy with.
  [[nodiscard]] std::string now_text() const {
    Json runs = Json::object();
    if (options_.now)
      for (std::size_t s = 0; s < stores_.size(); ++s)
        for (const ServedNow& now : options_.now(stores_[s].file())) runs[key_of(s, now.run)] = now_json(now);
    Json machine;
    if (options_.machine) {
      const ServedMachine busy = options_.machine();
      Json held = Json::array();
      for (const std::string& one : busy.held) held.push_back(clean_text(one));
      machine = {{"load", std::round(busy.load * 10) / 10},
                 {"processors", busy.processors},
                 {"held", std::move(held)}};
    }
    const Json out{{"runs", std::move(runs)}, {"machine", std::move(machine)}};
    return out.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  /// The store and the run of a key of `row_json`.
  [[nodiscard]] std::pair<const RunStore&, RunRow> run_of(const std::string& key) const {
    const std::size_t dot = key.find('.');
    const bool known = dot != std::string::npos &&
                       key.find_first_not_of("0123456789.") == std::string::npos && dot > 0 && dot < 6;
    const std::size_t store = known ? std::stoul(key.substr(0, dot)) : stores_.size();
    const auto row = store < stores_.size() ? stores_[store].find_run(key.substr(dot + 1)) : std::nullopt;
    if (!row)
      detail::raise<ConfigError>("there is no such run", clean_text(key).substr(0, 80), "list the runs");
    return {stores_[store], *row};
  }

  [[nodiscard]] std::string reports_text(const std::string& keys) const {
    std::vector<ReportModel> reports;
    for (std::size_t at = 0; at <= keys.size() && reports.size() < 8;) {
      const std::size_t end = std::min(keys.find(',', at), keys.size());
      const auto [store, row] = run_of(keys.substr(at, end - at));
      reports.push_back(
          report_of(store, row.id, options_.extras ? options_.extras(store, row.id) : ReportExtras{}));
      at = end + 1;
    }
    return report_json(reports);
  }

  /// A form of another page could be sent here, but not with this header, nor by somebody without the token.
  [[nodiscard]] bool may_control(const Request& request) const {
    return options_.control && request["X-Kernelsearch"] == "control";
  }

  Response control(const Request& request, const detail::RequestTarget& target) {
    if (!may_control(request)) return refused(http::status::forbidden, "403: started without --control");
    const auto [store, row] = run_of(target.value("run"));
    const std::string told = options_.control(store, row.id, target.value("action"), target.value("budget"));
    return json_response(Json{{"told", clean_text(told)}}.dump());
  }

  /// Keeps the tags and the note of a run, which the body has as `{"tags": [...], "note": "..."}`.
  Response note(const Request& request, const detail::RequestTarget& target) const {
    if (!may_control(request)) return refused(http::status::forbidden, "403: started without --control");
    const auto [store, row] = run_of(target.value("run"));
    const auto given = nlohmann::json::parse(request.body(), nullptr, false);
    RunNote said;
    try {
      said = {given.at("tags").get<std::vector<std::string>>(), given.at("note").get<std::string>()};
    } catch (const nlohmann::json::exception&) {
      return refused(http::status::bad_request, "400: tags and a note are wanted");
    }
    try {
      const RunNote kept = RunNotes(store.file()).set(row, said);
      return json_response(Json{{"tags", kept.tags}, {"note", kept.text}}.dump());
    } catch (const ConfigError& error) {
      return refused(http::status::bad_request, std::string("400: ") + error.what());
    }
  }

  /// Tells of each change of a store, at once and then as often as one is seen, and of what runs do at the
  /// moment; a comment keeps it alive.
  void send_events(tcp::socket& peer, const std::stop_token& stop) {
    const auto send = [&peer](const std::string& text) {
      error_code error;
      boost::asio::write(peer, boost::asio::buffer(text), error);
      return !error;
    };
    if (!send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
              "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\nretry: 1000\n\n"))
      return;
    std::vector<std::optional<FileMark>> seen(stores_.size());
    std::string last_now;
    int round = 0;
    auto quiet_since = std::chrono::steady_clock::now();
    while (!stop.stop_requested()) {
      bool changed = false;
      for (std::size_t s = 0; s < stores_.size(); ++s) {
        const FileMark mark = mark_of(stores_[s].file());
        changed = changed || seen[s] != mark;
        seen[s] = mark;
      }
      const auto now = std::chrono::steady_clock::now();
      if (changed || now - quiet_since > std::chrono::seconds(5)) {
        if (!send(changed ? "data: " + runs_text() + "\n\n" : ": still here\n\n")) return;
        quiet_since = now;
      }
      if (round++ % now_rounds == 0) {
        if (std::string told = now_text(); told != last_now) {
          if (!send("event: now\ndata: " + told + "\n\n")) return;
          last_now = std::move(told);
        }
      }
      std::this_thread::sleep_for(poll_interval);
    }
  }

  StoreServerOptions options_;
  std::vector<RunStore> stores_;
  boost::asio::io_context io_;
  tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
};

StoreServer::StoreServer(StoreServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
StoreServer::~StoreServer() = default;

std::uint16_t StoreServer::port() const noexcept {
  return impl_->port();
}

std::string StoreServer::address() const {
  return impl_->address();
}

void StoreServer::serve(const std::stop_token& stop) {
  impl_->serve(stop);
}

}  // namespace kernelsearch
