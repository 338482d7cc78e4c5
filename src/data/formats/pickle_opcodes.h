// The opcodes of pickle protocols 0 to 5: what follows each, and what it does to the stack. Source: Lib/pickletools.py.
#pragma once

#include <array>
#include <cstdint>

namespace sabath::pickle {

enum class Operand : std::uint8_t {
  none,
  bytes1,  // a number of one byte, and so on
  bytes2,
  bytes4,
  bytes8,
  line,      // up to a line break
  lines,     // two of them: module and name
  counted1,  // such a number, and as many bytes
  counted4,
  counted8,
};

enum class Effect : std::uint8_t {
  unknown,    // no such opcode
  none,       // FRAME, PROTO, READONLY_BUFFER
  push,       // a value that is no text
  push_text,  // the operand
  mark,
  stop,
  pop,
  pop_mark,  // everything down to the mark, and it
  duplicate,
  gather,    // pop_mark, then a value: LIST, TUPLE, DICT, FROZENSET
  extend,    // pop_mark; what is below grows: APPENDS, SETITEMS, ADDITEMS
  replace1,  // one, two, three values by one: TUPLE1, BINPERSID
  replace2,
  replace3,
  drop1,  // APPEND
  drop2,  // SETITEM
  put,    // the top under the operand's number
  get,
  memoize,       // the top under the next number
  import_lines,  // GLOBAL
  import_stack,  // STACK_GLOBAL
  instance,      // INST: the import of two lines called with what is above the mark
  call2,         // REDUCE, NEWOBJ: of two values one
  call3,         // NEWOBJ_EX
  call_mark,     // OBJ
  build,         // BUILD: a state is set, which may call __setstate__
  extension,     // EXT1..4: a name of the loading program's registry
  persistent,    // PERSID
  persistent_top,
  protocol,
};

struct Opcode {
  Operand operand = Operand::none;
  Effect effect = Effect::unknown;
};

constexpr std::array<Opcode, 256> make_opcodes() {
  std::array<Opcode, 256> all{};
  const auto set = [&](unsigned char code, Operand operand, Effect effect) { all[code] = {operand, effect}; };
  using enum Operand;
  using E = Effect;
  for (const char code : {'N', '}', ']', ')'}) set(static_cast<unsigned char>(code), none, E::push);
  for (const char code : {'F', 'I', 'L'}) set(static_cast<unsigned char>(code), line, E::push);
  for (const char code : {'S', 'V'}) set(static_cast<unsigned char>(code), line, E::push_text);
  for (const char code : {'l', 't', 'd'}) set(static_cast<unsigned char>(code), none, E::gather);
  for (const char code : {'e', 'u'}) set(static_cast<unsigned char>(code), none, E::extend);
  set('(', none, E::mark), set('.', none, E::stop), set('0', none, E::pop), set('1', none, E::pop_mark);
  set('2', none, E::duplicate), set('J', bytes4, E::push), set('K', bytes1, E::push), set('M', bytes2, E::push);
  set('P', line, E::persistent), set('Q', none, E::persistent_top), set('R', none, E::call2);
  set('T', counted4, E::push_text), set('U', counted1, E::push_text), set('X', counted4, E::push_text);
  set('a', none, E::drop1), set('b', none, E::build), set('c', lines, E::import_lines), set('g', line, E::get);
  set('h', bytes1, E::get), set('i', lines, E::instance), set('j', bytes4, E::get), set('o', none, E::call_mark);
  set('p', line, E::put), set('q', bytes1, E::put), set('r', bytes4, E::put), set('s', none, E::drop2);
  set('G', bytes8, E::push), set('B', counted4, E::push), set('C', counted1, E::push);
  set(0x80, bytes1, E::protocol), set(0x81, none, E::call2), set(0x82, bytes1, E::extension);
  set(0x83, bytes2, E::extension), set(0x84, bytes4, E::extension), set(0x85, none, E::replace1);
  set(0x86, none, E::replace2), set(0x87, none, E::replace3), set(0x88, none, E::push), set(0x89, none, E::push);
  set(0x8a, counted1, E::push), set(0x8b, counted4, E::push), set(0x8c, counted1, E::push_text);
  set(0x8d, counted8, E::push_text), set(0x8e, counted8, E::push), set(0x8f, none, E::push);
  set(0x90, none, E::extend), set(0x91, none, E::gather), set(0x92, none, E::call3);
  set(0x93, none, E::import_stack), set(0x94, none, E::memoize), set(0x95, bytes8, E::none);
  set(0x96, counted8, E::push), set(0x97, none, E::push), set(0x98, none, E::none);
  return all;
}

inline constexpr std::array<Opcode, 256> opcodes = make_opcodes();

}  // namespace sabath::pickle
