#include "formats/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <system_error>
#include <unordered_map>

#include "base/text.h"
#include "formats/import_name.h"
#include "formats/pickle_bytes.h"
#include "formats/pickle_opcodes.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using pickle::Effect;
using pickle::Operand;

constexpr std::size_t stack_max = 4'000'000, memo_max = 4'000'000, names_max = 1000, texts_max = 1'000'000;
constexpr std::uint64_t pickles_max = 10'000;

// What one pickle does, or all of a file.
struct PickleDeeds {
  std::set<std::string> names;  // at most names_max
  bool imports = false, calls = false, persistent_ids = false;

  void import_name(std::string name) {
    imports = true;
    if (names.size() < names_max) names.insert(std::move(name));
  }
  void add(const PickleDeeds& other) {
    const bool counts = imports || other.imports;
    for (const std::string& name : other.names) import_name(name);
    imports = counts;
    calls = calls || other.calls;
    persistent_ids = persistent_ids || other.persistent_ids;
  }
};

// As int() reads a line: blanks around it, a sign, underscores between digits; C's machine stops at a zero byte.
std::string_view int_text(std::string_view line) { return trim(line.substr(0, line.find('\0'))); }

bool has_only(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == text.npos;
}

// Of an operand that is a number.
int operand_bytes(Operand operand) { return 1 << (static_cast<int>(operand) - static_cast<int>(Operand::bytes1)); }

// One pickle. With PickleClaim::none it stops where Python does for the values that it knows; else it goes on as far as
// it can, because other machines than Python's may resolve what theirs does not.
class PickleMachine {
 public:
  // `follows`: another pickle stands before it, whose memo an Unpickler that reads both keeps.
  PickleMachine(PickleBytes& bytes, bool strict, bool follows, int& protocol)
      : bytes_(bytes), strict_(strict), follows_(follows), protocol_(protocol) {}

  void run() {
    for (;;) {
      const pickle::Opcode& code = pickle::opcodes[last_ = bytes_.byte()];
      if (code.effect == Effect::unknown) throw PickleTrouble{fmt::format("byte 0x{:02x} is no opcode", last_)};
      take_operand(code.operand);
      if (code.effect == Effect::stop) return static_cast<void>(pop());
      act(code.effect);
    }
  }
  [[nodiscard]] const PickleDeeds& deeds() const { return deeds_; }

 private:
  using Value = std::uint32_t;
  // A number, list, ...; a mark; what was imported, or made by a call; a text that is not kept; from here on texts_.
  static constexpr Value plain = 0, mark = 1, object = 2, some_text = 3, first_text = 4;

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
        number_ = bytes_.number(operand_bytes(operand));
        return;
      case Operand::lines:
        return take_import();
      case Operand::line:
        known_ = bytes_.line(text_, false);
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

  // A name has any length, "eval.__self__.eval".
  void take_import() {
    const bool module_known = bytes_.line(module_, true);
    const bool named = !strict_ || is_program_name(module_);
    if (strict_ && !may_be_module(module_)) throw PickleTrouble{"it imports what has no name"};
    known_ = bytes_.line(text_, !named) && module_known;
    if (!named && !is_program_name(text_)) throw PickleTrouble{"it imports what has no name"};
  }

  [[noreturn]] static void underflow() { throw PickleTrouble{"it takes more from the stack than there is"}; }
  [[nodiscard]] bool empty() const { return stack_.empty() || stack_.back() == mark; }  // above the last mark
  Value& top() {
    if (empty()) underflow();
    return stack_.back();
  }
  void push(Value value) {
    if (stack_.size() == stack_max) throw PickleTrouble{"its stack is too high", false};
    stack_.push_back(value);
  }
  Value pop() {
    const Value value = top();
    stack_.pop_back();
    return value;
  }
  // The lowest value above the mark; the mark itself, if there is none.
  Value pop_to_mark() {
    Value lowest = mark;
    for (; !empty(); stack_.pop_back()) lowest = stack_.back();
    if (stack_.empty()) underflow();
    stack_.pop_back();
    return lowest;
  }
  void replace(int count) {
    for (; count > 0; --count) static_cast<void>(pop());
    push(plain);
  }

  // A number as text. What int() or float() refuses ends the load.
  void push_number() {
    if (last_ == 'F' || last_ == 'I' || last_ == 'L') {
      const std::string_view allowed = last_ == 'F' ? "0123456789.+-_eEinfatyINFATY" : "0123456789abcdefABCDEFxXoOL_+-";
      if (known_ && !has_only(int_text(text_), allowed)) throw PickleTrouble{"a number of it is none"};
    }
    push(plain);
  }

  // STRING has quotes around it; another text is as it stands.
  void push_text() {
    if (last_ == 'S' && known_) {
      if (text_.size() < 2 || text_.front() != text_.back() || (text_[0] != '\'' && text_[0] != '"'))
        throw PickleTrouble{"a text of it has no quotes"};
      text_ = text_.substr(1, text_.size() - 2);
    }
    const bool as_it_is = text_.find('\\') == std::string::npos || (last_ != 'S' && last_ != 'V');
    if (!known_ || !as_it_is || texts_.size() == texts_max) return push(some_text);
    texts_.push_back(text_);
    push(static_cast<Value>(texts_.size() - 1 + first_text));
  }

  [[nodiscard]] std::uint64_t memo_key() const {
    if (last_ != 'p' && last_ != 'g') return number_;
    std::string digits(int_text(text_));
    const bool below_zero = digits.starts_with('-');  // or at it: Python reads "-0" as 0
    if (below_zero || digits.starts_with('+')) digits.erase(0, 1);
    std::erase(digits, '_');
    std::uint64_t key = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), key);
    if (error == std::errc::result_out_of_range || !known_)
      throw PickleTrouble{"a key of its memo is too large", false};
    if (error != std::errc() || end != digits.data() + digits.size())
      throw PickleTrouble{"a key of its memo is no number"};
    if (below_zero && key > 0) throw PickleTrouble{"a key of its memo is below zero"};
    return key;
  }
  void put(std::uint64_t key) {
    if (memo_.size() == memo_max) throw PickleTrouble{"its memo is too large", false};
    memo_[key] = top();
  }
  void get(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end() && !follows_) throw PickleTrouble{"it takes from its memo what is not there"};
    const Value value = found == memo_.end() ? plain : found->second;
    push(follows_ && value == plain ? some_text : value);
  }

  void import_lines() {
    const bool before = deeds_.imports;
    deeds_.import_name(known_ ? printable(fmt::format("{}.{}", module_, text_)) : "?");
    if (strict_ && reads_as_words(module_)) deeds_.imports = before;
  }
  void import_stack() {
    const Value name = pop(), module = pop();
    if (strict_ && (name == plain || module == plain)) throw PickleTrouble{"it imports what is no name"};
    const bool known = name >= first_text && module >= first_text;
    deeds_.import_name(known ? printable(fmt::format("{}.{}", texts_[module - first_text], texts_[name - first_text]))
                             : "?");
    push(object);
  }

  // Where Python's machine finds no function, pandas tries again with a class that is an argument.
  void call(Value callee) {
    if (strict_ && callee != object && deeds_.names.empty()) throw PickleTrouble{"it calls what is no function"};
    deeds_.calls = true;
    push(object);
  }
  // The value on top grows by a method of its own.
  void grow() {
    if (top() == object) deeds_.calls = true;
  }

  void act(Effect effect) {
    switch (effect) {
      case Effect::push:
        return push_number();
      case Effect::push_text:
        return push_text();
      case Effect::mark:
        return push(mark);
      case Effect::pop:  // also a mark
        if (stack_.empty()) underflow();
        return stack_.pop_back();
      case Effect::drop1:
        static_cast<void>(pop());
        return grow();
      case Effect::drop2:
        static_cast<void>(pop());
        static_cast<void>(pop());
        return grow();
      case Effect::pop_mark:
        return static_cast<void>(pop_to_mark());
      case Effect::extend:
        static_cast<void>(pop_to_mark());
        return grow();
      case Effect::gather:
        static_cast<void>(pop_to_mark());
        return push(plain);
      case Effect::duplicate:
        return push(top());
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
      case Effect::get:
        return get(memo_key());
      default:
        return act_on_code(effect);
    }
  }

  void act_on_code(Effect effect) {
    switch (effect) {
      case Effect::import_lines:
        import_lines();
        return push(object);
      case Effect::import_stack:
        return import_stack();
      case Effect::instance:
        import_lines();
        static_cast<void>(pop_to_mark());
        return call(object);
      case Effect::call2:
        static_cast<void>(pop());
        return call(pop());
      case Effect::call3:
        static_cast<void>(pop());
        static_cast<void>(pop());
        return call(pop());
      case Effect::call_mark:
        return call(pop_to_mark());
      case Effect::build:
        static_cast<void>(pop());
        deeds_.calls = deeds_.calls || !strict_ || top() == object;
        return;
      case Effect::extension:
        if (strict_) throw PickleTrouble{"it takes from a registry that is empty"};
        deeds_.import_name("?");
        return push(object);
      case Effect::persistent:
        return persistent(plain);
      case Effect::persistent_top:
        static_cast<void>(pop());
        return persistent(object);
      case Effect::protocol:
        if (number_ > 5) throw PickleTrouble{fmt::format("its protocol {} is unknown", number_)};
        protocol_ = std::max(protocol_, static_cast<int>(number_));
        return;
      default:
        return;
    }
  }

  // What the loading program makes of an id. Python's machine makes nothing of it; torch's old loaders give back what
  // is in it, also a function, and of a text a tensor.
  void persistent(Value value) {
    deeds_.persistent_ids = true;
    push(strict_ ? value : object);
  }

  PickleBytes& bytes_;
  bool strict_, follows_;
  int& protocol_;
  PickleDeeds deeds_;
  unsigned char last_ = 0;
  std::string text_, module_;
  bool known_ = true;
  std::uint64_t number_ = 0;
  std::vector<Value> stack_;
  std::vector<std::string> texts_;
  std::unordered_map<std::uint64_t, Value> memo_;
};

// What counts of a pickle that broke off, and of which nothing says that it is one: no text of people, whose first
// letters happen to import something, calls it.
bool counts_broken_off(const PickleDeeds& deeds) { return deeds.calls; }

// Whether an opcode can be the first.
bool stands_on_nothing(Effect effect) {
  switch (effect) {
    case Effect::push:
    case Effect::push_text:
    case Effect::mark:
    case Effect::import_lines:
    case Effect::persistent:
    case Effect::protocol:
    case Effect::none:
      return true;
    default:
      return false;
  }
}

unsigned char byte_in(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

}  // namespace

bool may_begin_pickle(std::string_view first_bytes) {
  if (first_bytes.empty() || !stands_on_nothing(pickle::opcodes[byte_in(first_bytes, 0)].effect)) return false;
  for (std::size_t at = 0; at < first_bytes.size();) {
    const pickle::Opcode& code = pickle::opcodes[byte_in(first_bytes, at)];
    if (code.effect == Effect::unknown) return false;
    if (code.operand > Operand::bytes8 || code.effect == Effect::stop) return true;
    at += 1;
    if (code.operand != Operand::none) at += static_cast<std::size_t>(operand_bytes(code.operand));
  }
  return true;
}

PickleFacts walk_pickle(ByteSource& source, PickleClaim claim, const std::function<void()>& on_progress) {
  PickleFacts facts;
  PickleDeeds all;
  PickleBytes bytes(source, on_progress);
  std::optional<PickleTrouble> trouble;
  while (!trouble && (facts.pickles == 0 || !bytes.at_end())) {
    const bool strict = claim == PickleClaim::none || facts.pickles > 0;  // behind a pickle any bytes may stand
    PickleMachine machine(bytes, strict, facts.pickles > 0, facts.protocol);
    try {
      if (facts.pickles == pickles_max) throw PickleTrouble{"more pickles follow each other than are looked at", false};
      machine.run();
      ++facts.pickles;
      facts.bytes = bytes.offset();
    } catch (const PickleTrouble& why) {
      trouble = why;
    }
    if (!trouble || !strict || counts_broken_off(machine.deeds())) all.add(machine.deeds());
  }
  facts.executes = all.imports || all.calls;
  if (claim == PickleClaim::none && !facts.executes && (!trouble || trouble->python_stops)) return {};
  if (trouble) {
    facts.trouble = fmt::format("{} (at byte {}{})", trouble->why, bytes.offset(),
                                facts.pickles > 0 ? ", behind the last whole pickle" : "");
    if (facts.pickles == 0) facts.bytes = bytes.offset();
  }
  facts.imports.assign(all.names.begin(), all.names.end());
  facts.calls = all.calls;
  facts.persistent_ids = all.persistent_ids;
  return facts;
}

}  // namespace sabath
