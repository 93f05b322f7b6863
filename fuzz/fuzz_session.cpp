// The session between two sites. An input is a byte of choices and then steps: the sites send
// frames, take them, save, die, and are started from an older checkpoint, while the wire loses
// messages, repeats them and lets them overtake each other. Strangers say what they like. At the
// end every frame must have come, once and in order.
// With `hostile` the neighbour itself lies, under its own name: then a message is dropped, refused
// with a FormatError, or taken; nothing else may happen, and memory stays within its limit.
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fuzz/message_input.hpp"
#include "fuzz/want.hpp"
#include "ticopd/site/session.hpp"

namespace {

using namespace ticopd;

constexpr std::uint64_t network = 7, stranger = 1000;  // boots of sites are smaller
constexpr std::uint64_t most_frames = 24;
constexpr std::size_t most_captured = 48;
constexpr std::size_t largest = 150;  // bytes of a frame

SessionLimits limits() {
  SessionLimits l;
  l.piece = 64;
  l.window = 600;
  l.frame = 2 * largest;
  l.unread = 6 * largest;
  return l;
}

std::uint32_t channel_of(std::uint64_t number) {
  return static_cast<std::uint32_t>(number * 7 / 3 % 3);
}

// A site sends the same frames however often it was started.
Bytes frame_of(int side, std::uint64_t number) {
  const std::size_t size = (number * 37 + static_cast<std::uint64_t>(side) * 11) % largest;
  return Bytes(size, static_cast<std::byte>(number + 100 * static_cast<std::uint64_t>(side)));
}

struct Side {
  std::unique_ptr<Session> session;
  int number = 0;
  std::uint64_t boot = 0;
  std::uint64_t sent = 0;
  std::vector<SessionRecord> saved;  // two at most, the newest last
};

struct Captured {
  int to;
  Message message;
};

class Talk {
 public:
  explicit Talk(bool hostile) : hostile_(hostile) {
    for (int s : {0, 1}) {
      sides_[static_cast<std::size_t>(s)].number = s;
      start(side(s));
    }
  }

  void step(Script& script) {
    const std::size_t what = script.byte();
    Side& s = side(what / 16);
    switch (what % 16) {
      case 0:
      case 1:
      case 2:
        return push(s);
      case 3:
      case 4:
        return pop(s, script);
      case 5:
      case 6:
      case 7:
        for (std::size_t n = what / 32 + 1; n > 0; --n) say(s, (what / 16 & 2) == 0);
        return;
      case 8:
      case 9:
        if (const Captured* c = captured(script)) take(side(c->to), c->message);
        return;
      case 10:
        now_ += static_cast<Time>(script.byte()) * one_second / 50;
        return;
      case 11:
        return save(s);
      case 12:
        if (script.byte() % 4 == 0 && s.saved.size() > 1) s.saved.pop_back();
        return start(s);
      case 13:
        return strange(s, script);
      case 14:
        if (script.byte() % 2 == 0) s.session->say_done();
        want(s.session->due() >= 0);
        return;
      default:
        if (const Captured* c = captured(script)) changed(*c, script);
        return;
    }
  }

  // Nothing is lost any more: all frames arrive.
  void end() {
    for (Side& s : sides_) s.session->use();
    for (int turn = 0; turn < 4000 && !(all_here(sides_[0]) && all_here(sides_[1])); ++turn) {
      bool said = false;
      for (Side& s : sides_)
        while (const std::optional<Message> m = s.session->next(now_)) {
          said = true;
          take(other(s), *m);
        }
      Time due = std::numeric_limits<Time>::max();
      for (Side& s : sides_) due = std::min(due, s.session->due());
      if (!said) now_ = std::max(now_ + 1, due);
    }
    want(all_here(sides_[0]) && all_here(sides_[1]));
  }

 private:
  template <class Number>
  Side& side(Number n) {
    return sides_[static_cast<std::size_t>(n) % 2];
  }
  Side& other(const Side& s) { return side(s.number + 1); }

  void start(Side& s) {
    const SessionRecord record = s.saved.empty() ? SessionRecord() : s.saved.back();
    s.boot = ++boots_;
    s.session = std::make_unique<Session>("peer", network, s.boot, limits(), record);
    s.session->use();
    s.sent = record.sent;
  }

  void push(Side& s) {
    if (s.sent >= most_frames) return;
    const std::uint64_t number = ++s.sent;
    s.session->push(channel_of(number), frame_of(s.number, number));
  }

  // The next frame of the stream. Among lies, of any channel.
  void pop(Side& s, Script& script) {
    const std::uint64_t number = s.session->consumed() + 1;
    if (hostile_) {
      s.session->pop(static_cast<std::uint32_t>(script.byte() % 4));
      return;
    }
    const std::optional<Bytes> frame = s.session->pop(channel_of(number));
    want(!frame || *frame == frame_of(1 - s.number, number));
  }

  bool all_here(Side& s) {
    while (s.session->consumed() < other(s).sent) {
      const std::uint64_t number = s.session->consumed() + 1;
      const std::optional<Bytes> frame = s.session->pop(channel_of(number));
      if (!frame) return false;
      want(*frame == frame_of(1 - s.number, number));
    }
    // A site that went back makes its frames again; the other one may have them.
    if (s.session->consumed() > other(s).sent) push(other(s));
    return s.session->consumed() == other(s).sent;
  }

  void save(Side& s) {
    s.saved.push_back(s.session->record());
    if (s.saved.size() > 2) s.saved.erase(s.saved.begin());
    if (s.saved.size() == 2) s.session->make_safe(s.saved.front().consumed);
  }

  void say(Side& from, bool arrives) {
    const std::optional<Message> m = from.session->next(now_);
    if (!m) return;
    Captured c{1 - from.number, *m};
    if (captured_.size() < most_captured)
      captured_.push_back(c);
    else
      captured_[captured_at_++ % most_captured] = c;
    if (arrives) take(other(from), *m);
  }

  const Captured* captured(Script& script) const {
    const std::size_t which = script.byte();
    return captured_.empty() ? nullptr : &captured_[which % captured_.size()];
  }

  // The frames that the transport hands on.
  void take(Side& to, const Message& m) {
    const std::optional<Message> decoded = decode_message(encode(m));
    if (!decoded) return;
    ++tried_reads;
    to.session->take(*decoded, now_);
    ++accepted_reads;
    want(to.session->unread_bytes() <= limits().unread + limits().frame);
  }

  void changed(const Captured& c, Script& script) {
    Message m = c.message;
    for (std::size_t n = script.byte() % 4 + 1; n > 0; --n) change(m, script);
    if (hostile_) return take(side(c.to), m);
    // The hash of the message stands for the key that a stranger does not have.
    Bytes bytes = encode(m);
    bytes[script.word() % bytes.size()] ^= std::byte{1};
    want(!decode_message(bytes));
  }

  void strange(Side& to, Script& script) {
    Message m{.network = network, .from = other(to).boot, .to = to.boot};
    for (std::size_t n = script.byte() % 8; n > 0; --n) change(m, script);
    if (!hostile_) m.from = stranger + m.from % stranger;
    take(to, m);
  }

  bool hostile_;
  std::array<Side, 2> sides_;
  std::vector<Captured> captured_;
  std::size_t captured_at_ = 0;
  std::uint64_t boots_ = 0;
  Time now_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool hostile = (data[0] & 1) != 0;
  Script script(std::span(data, size).subspan(1));
  Talk talk(hostile);
  const auto all = [&] {
    for (int n = 0; n < 400 && !script.empty(); ++n) talk.step(script);
    if (!hostile) talk.end();
  };
  if (hostile)
    accepts(all);
  else
    all();
  return 0;
}
