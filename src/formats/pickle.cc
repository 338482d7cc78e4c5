#include "formats/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>
#include <unordered_map>

#include "formats/pickle_opcodes.h"
#include "formats/protobuf.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using pickle::Effect;
using pickle::Operand;

constexpr std::size_t stack_max = 4'000'000, memo_max = 4'000'000, line_bytes_max = 1 << 20, names_max = 1000;
constexpr std::size_t text_kept_max = 1024, texts_max = 1'000'000;
constexpr std::uint64_t pickles_max = 10'000;

// The walk ends here: why, in words.
struct Trouble {
  std::string why;
};

// A buffered reader of the operands.
class PickleBytes {
 public:
  PickleBytes(ByteSource& source, const std::function<void()>& on_progress)
      : source_(source), on_progress_(on_progress), buffer_(64 << 10, '\0') {}

  [[nodiscard]] bool at_end() { return used_ == filled_ && !refill(); }
  [[nodiscard]] std::uint64_t offset() const { return before_ + used_; }

  unsigned char byte() {
    if (at_end()) throw Trouble{"it ends early"};
    return static_cast<unsigned char>(buffer_[used_++]);
  }
  std::uint64_t number(int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(byte());
    return little_endian(text, bytes);
  }
  // Without its line break.
  std::string line() {
    std::string text;
    for (char c = 0; (c = static_cast<char>(byte())) != '\n'; text += c) {
      if (text.size() == line_bytes_max) throw Trouble{"a line is too long"};
    }
    return text;
  }
  // The first text_kept_max of `length` bytes; whether that is all.
  bool take(std::uint64_t length, std::string& text) {
    const bool whole = length <= text_kept_max;
    while (length > 0) {
      if (at_end()) throw Trouble{"it ends early"};
      const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(length, filled_ - used_));
      if (whole) text.append(buffer_, used_, piece);
      used_ += piece;
      length -= piece;
    }
    return whole;
  }

 private:
  bool refill() {
    on_progress_();
    before_ += filled_;
    used_ = 0;
    filled_ = source_.read(buffer_);
    return filled_ > 0;
  }

  ByteSource& source_;
  const std::function<void()>& on_progress_;
  std::string buffer_;
  std::size_t used_ = 0, filled_ = 0;
  std::uint64_t before_ = 0;
};

// The names that are imported, of all pickles of a file.
class Imports {
 public:
  // `doubtful`: bytes behind a pickle that may be none; only what looks like a name counts.
  void add(std::string_view module, std::string_view name, bool doubtful) {
    if (doubtful && !(is_name(module) && is_name(name))) return;
    if (names_.size() < names_max) names_.insert(printable(fmt::format("{}.{}", module, name)));
    any_ = true;
  }
  void add_unknown() {
    names_.insert("?");
    any_ = true;
  }
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] std::vector<std::string> take() const { return {names_.begin(), names_.end()}; }

 private:
  static bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    });
  }
  std::set<std::string> names_;
  bool any_ = false;
};

class PickleMachine {
 public:
  PickleMachine(PickleBytes& bytes, Imports& imports, PickleFacts& facts, bool doubtful)
      : bytes_(bytes), imports_(imports), facts_(facts), doubtful_(doubtful) {}

  void run() {
    for (;;) {
      const pickle::Opcode& code = pickle::opcodes[last_ = bytes_.byte()];
      if (code.effect == Effect::unknown) throw Trouble{fmt::format("byte 0x{:02x} is no opcode", last_)};
      take_operand(code.operand);
      if (code.effect == Effect::stop) return;
      act(code.effect);
    }
  }

 private:
  using Value = std::uint32_t;  // 0: a value that is no text, 1: a mark, 2 + i: texts_[i]
  static constexpr Value other = 0, mark = 1, first_text = 2;

  void take_operand(Operand operand) {
    text_.clear();
    known_ = true;
    number_ = 0;
    switch (operand) {
      case Operand::none:
        return;
      case Operand::bytes1:
      case Operand::bytes2:
      case Operand::bytes4:
      case Operand::bytes8:
        number_ = bytes_.number(1 << (static_cast<int>(operand) - static_cast<int>(Operand::bytes1)));
        return;
      case Operand::lines:
        module_ = bytes_.line();
        [[fallthrough]];
      case Operand::line:
        text_ = bytes_.line();
        return;
      case Operand::counted1:
        known_ = bytes_.take(bytes_.number(1), text_);
        return;
      case Operand::counted4:
        known_ = bytes_.take(bytes_.number(4), text_);
        return;
      case Operand::counted8:
        known_ = bytes_.take(bytes_.number(8), text_);
        return;
    }
  }

  void push(Value value) {
    if (stack_.size() == stack_max) throw Trouble{"its stack is too high"};
    stack_.push_back(value);
  }
  Value pop() {
    if (stack_.empty()) throw Trouble{"it takes more from the stack than there is"};
    const Value value = stack_.back();
    stack_.pop_back();
    return value;
  }
  void pop_to_mark() {
    while (pop() != mark) continue;
  }
  void replace(int count) {
    for (; count > 0; --count) static_cast<void>(pop());
    push(other);
  }

  // STRING has quotes around it; another text is as it stands.
  void push_text() {
    if (last_ == 'S' && text_.size() >= 2) text_ = text_.substr(1, text_.size() - 2);
    const bool plain = text_.find('\\') == std::string::npos || (last_ != 'S' && last_ != 'V');
    if (!known_ || !plain || text_.size() > text_kept_max || texts_.size() == texts_max) return push(other);
    texts_.push_back(text_);
    push(static_cast<Value>(texts_.size() - 1 + first_text));
  }

  std::uint64_t memo_key() {
    if (last_ != 'p' && last_ != 'g') return number_;
    std::uint64_t key = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), key);
    if (error != std::errc()) throw Trouble{"a number of its memo is none"};
    return key;
  }
  void put(std::uint64_t key) {
    if (stack_.empty()) throw Trouble{"it takes more from the stack than there is"};
    if (memo_.size() == memo_max) throw Trouble{"its memo is too large"};
    memo_[key] = stack_.back();
  }

  void import_stack() {
    const Value name = pop(), module = pop();
    if (name >= first_text && module >= first_text)
      imports_.add(texts_[module - first_text], texts_[name - first_text], doubtful_);
    else
      imports_.add_unknown();
    push(other);
  }

  void act(Effect effect) {
    switch (effect) {
      case Effect::push:
        return push(other);
      case Effect::push_text:
        return push_text();
      case Effect::mark:
        return push(mark);
      case Effect::pop:
      case Effect::drop1:
        return static_cast<void>(pop());
      case Effect::drop2:
        static_cast<void>(pop());
        return static_cast<void>(pop());
      case Effect::pop_mark:
      case Effect::extend:
        return pop_to_mark();
      case Effect::gather:
        pop_to_mark();
        return push(other);
      case Effect::duplicate:
        return push(stack_.empty() ? pop() : stack_.back());
      case Effect::replace1:
        return replace(1);
      case Effect::replace2:
        return replace(2);
      case Effect::replace3:
        return replace(3);
      case Effect::put:
        return put(memo_key());
      case Effect::memoize:
        return put(memo_.size());
      case Effect::get: {
        const auto found = memo_.find(memo_key());
        if (found == memo_.end()) throw Trouble{"it takes from its memo what is not there"};
        return push(found->second);
      }
      default:
        return act_on_code(effect);
    }
  }

  void act_on_code(Effect effect) {
    switch (effect) {
      case Effect::import_lines:
        imports_.add(module_, text_, doubtful_);
        return push(other);
      case Effect::import_stack:
        return import_stack();
      case Effect::instance:
        imports_.add(module_, text_, doubtful_);
        pop_to_mark();
        facts_.calls = true;
        return push(other);
      case Effect::call2:
        facts_.calls = true;
        return replace(2);
      case Effect::call3:
        facts_.calls = true;
        return replace(3);
      case Effect::call_mark:
        pop_to_mark();
        facts_.calls = true;
        return push(other);
      case Effect::build:
        facts_.calls = true;
        return static_cast<void>(pop());
      case Effect::extension:
        imports_.add_unknown();
        return push(other);
      case Effect::persistent:
        facts_.persistent_ids = true;
        return push(other);
      case Effect::persistent_top:
        facts_.persistent_ids = true;
        return replace(1);
      case Effect::protocol:
        if (number_ > 5) throw Trouble{fmt::format("its protocol {} is unknown", number_)};
        facts_.protocol = std::max(facts_.protocol, static_cast<int>(number_));
        return;
      default:
        return;
    }
  }

  PickleBytes& bytes_;
  Imports& imports_;
  PickleFacts& facts_;
  bool doubtful_;
  unsigned char last_ = 0;
  std::string text_, module_;
  bool known_ = true;
  std::uint64_t number_ = 0;
  std::vector<Value> stack_;
  std::vector<std::string> texts_;
  std::unordered_map<std::uint64_t, Value> memo_;
};

}  // namespace

PickleFacts walk_pickle(ByteSource& source, const std::function<void()>& on_progress) {
  PickleFacts facts;
  Imports imports;
  PickleBytes bytes(source, on_progress);
  try {
    do {
      if (facts.pickles == pickles_max) throw Trouble{"more pickles follow each other than are looked at"};
      PickleMachine(bytes, imports, facts, facts.pickles > 0).run();
      ++facts.pickles;
      facts.bytes = bytes.offset();
    } while (!bytes.at_end());
  } catch (const Trouble& trouble) {
    facts.trouble = fmt::format("{} (at byte {}{})", trouble.why, bytes.offset(),
                                facts.pickles > 0 ? ", behind the last whole pickle" : "");
    if (facts.pickles == 0) facts.bytes = bytes.offset();
  }
  facts.imports = imports.take();
  facts.executes = imports.any() || facts.calls;
  return facts;
}

}  // namespace sabath
