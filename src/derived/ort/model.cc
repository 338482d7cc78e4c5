#include "ort/model.h"

#include <fmt/format.h>

#include <cstring>

#include "base/counted.h"
#include "ort/calls.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t slots_max = 4096, dimensions_max = 64;
constexpr int tensor_memory = 0, device_memory = 0, optimise_all = 99, optimise_nothing = 0;

// Reads the type and the lengths of a TensorTypeAndShapeInfo.
TensorSlot facts_of(void* const* table, void* info, const std::string& name) {
  int type = 0;
  std::size_t dimensions = 0;
  call_ort(table, OrtCall::element_type, name, info, &type);
  call_ort(table, OrtCall::dimension_count, name, info, &dimensions);
  if (dimensions > dimensions_max) {
    throw Error(FailureKind::invalid, fmt::format("{} has {} dimensions", printable(name), dimensions));
  }
  TensorSlot slot{name, tensor_type_of(type, name), std::vector<std::int64_t>(dimensions), {}};
  call_ort(table, OrtCall::dimensions, name, info, slot.shape.data(), dimensions);
  std::vector<const char*> symbols(dimensions);
  call_ort(table, OrtCall::symbolic_dimensions, name, info, symbols.data(), dimensions);
  for (const char* const symbol : symbols) slot.symbols.emplace_back(symbol != nullptr ? symbol : "");
  return slot;
}

Tensor tensor_of(void* const* table, void* value, const TensorSlot& slot, std::size_t bytes_max) {
  int is_tensor = 0;
  call_ort(table, OrtCall::is_tensor, slot.name, value, &is_tensor);
  if (is_tensor == 0) throw Error(FailureKind::invalid, printable(slot.name) + " is no tensor");
  OrtObject info(table, OrtCall::release_tensor_facts);
  call_ort(table, OrtCall::tensor_facts, slot.name, value, info.out());
  TensorSlot real = facts_of(table, info.get(), slot.name);
  Tensor tensor{real.type, std::move(real.shape), {}};
  tensor.bytes.resize(bytes_of(tensor.type, tensor.shape, bytes_max));
  void* data = nullptr;
  call_ort(table, OrtCall::tensor_data, slot.name, value, &data);
  if (!tensor.bytes.empty()) std::memcpy(tensor.bytes.data(), data, tensor.bytes.size());
  return tensor;
}

OrtObject session_options(void* const* table, const OrtOptions& options, const std::string& name) {
  OrtObject made(table, OrtCall::release_session_options);
  call_ort(table, OrtCall::create_session_options, name, made.out());
  call_ort(table, OrtCall::set_optimisation, name, made.get(), options.optimise ? optimise_all : optimise_nothing);
  call_ort(table, OrtCall::set_threads_in_operator, name, made.get(), static_cast<int>(options.threads));
  call_ort(table, OrtCall::set_threads_between_operators, name, made.get(), 1);
  if (!options.optimised_file.empty())
    call_ort(table, OrtCall::set_optimised_model_file, name, made.get(), options.optimised_file.c_str());
  return made;
}

}  // namespace

OrtModel::OrtModel(std::shared_ptr<const OrtRuntime> runtime, std::span<const std::byte> graph, const std::string& name,
                   const OrtOptions& options)
    : runtime_(std::move(runtime)), name_(printable(name)), output_bytes_max_(options.output_bytes_max) {
  void* const* const table = runtime_->table_;
  const OrtObject made = session_options(table, options, name_);
  OrtObject session(table, OrtCall::release_session);
  call_ort(table, OrtCall::create_session_from_bytes, name_, runtime_->env_, static_cast<const void*>(graph.data()),
           graph.size(), made.get(), session.out());
  own(session.out());
}

OrtModel::OrtModel(std::shared_ptr<const OrtRuntime> runtime, const std::filesystem::path& file,
                   const std::string& name, const OrtOptions& options)
    : runtime_(std::move(runtime)), name_(printable(name)), output_bytes_max_(options.output_bytes_max) {
  void* const* const table = runtime_->table_;
  const OrtObject made = session_options(table, options, name_);
  OrtObject session(table, OrtCall::release_session);
  call_ort(table, OrtCall::create_session, name_, runtime_->env_, file.c_str(), made.get(), session.out());
  own(session.out());
}

void OrtModel::own(void** session) {
  session_ = *session;
  inputs_ = slots(true);
  outputs_ = slots(false);
  *session = nullptr;  // nothing threw: this object frees it now
}

OrtModel::~OrtModel() { ort_function<void(void*)>(runtime_->table_, OrtCall::release_session)(session_); }

std::vector<TensorSlot> OrtModel::slots(bool of_inputs) const {
  void* const* const table = runtime_->table_;
  std::size_t count = 0;
  call_ort(table, of_inputs ? OrtCall::input_count : OrtCall::output_count, name_, session_, &count);
  if (count > slots_max) throw Error(FailureKind::invalid, fmt::format("{} has {} inputs or outputs", name_, count));
  void* allocator = nullptr;  // the runtime owns it
  call_ort(table, OrtCall::default_allocator, name_, &allocator);
  std::vector<TensorSlot> slots;
  for (std::size_t i = 0; i < count; ++i) {
    char* said = nullptr;
    call_ort(table, of_inputs ? OrtCall::input_name : OrtCall::output_name, name_, session_, i, allocator, &said);
    const std::string slot = said;
    call_ort(table, OrtCall::free, name_, allocator, static_cast<void*>(said));
    OrtObject type(table, OrtCall::release_type);
    call_ort(table, of_inputs ? OrtCall::input_type : OrtCall::output_type, name_, session_, i, type.out());
    void* tensor = nullptr;  // a part of `type`
    call_ort(table, OrtCall::tensor_of_type, name_, type.get(), &tensor);
    if (tensor == nullptr) {
      throw Error(FailureKind::invalid,
                  fmt::format("{} of {} is a sequence or a map, no tensor", printable(slot), name_),
                  "export the model with plain outputs (for scikit-learn: the option zipmap=False)");
    }
    slots.push_back(facts_of(table, tensor, slot));
  }
  return slots;
}

std::vector<Tensor> OrtModel::run(std::span<const Tensor> inputs) const {
  void* const* const table = runtime_->table_;
  if (inputs.size() != inputs_.size()) {
    throw Error(FailureKind::usage,
                fmt::format("{} takes {}, not {}", name_, counted(inputs_.size(), "input"), inputs.size()));
  }
  OrtObject memory(table, OrtCall::release_memory);
  call_ort(table, OrtCall::create_cpu_memory, name_, device_memory, tensor_memory, memory.out());
  std::vector<OrtObject> given, made;
  std::vector<const char*> input_names, output_names;
  std::vector<void*> in, out(outputs_.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = inputs[i];
    if (const auto why = why_not_fitting(inputs_[i], tensor.type, tensor.shape); !why.empty())
      throw Error(FailureKind::usage, fmt::format("{}: {}", name_, why));
    OrtObject& value = given.emplace_back(table, OrtCall::release_value);
    call_ort(table, OrtCall::create_tensor, name_, memory.get(),
             static_cast<void*>(const_cast<std::byte*>(tensor.bytes.data())), tensor.bytes.size(), tensor.shape.data(),
             tensor.shape.size(), onnx_number(tensor.type), value.out());
    in.push_back(value.get());
    input_names.push_back(inputs_[i].name.c_str());
  }
  for (const TensorSlot& slot : outputs_) output_names.push_back(slot.name.c_str());
  call_ort(table, OrtCall::run, name_, session_, static_cast<void*>(nullptr), input_names.data(), in.data(), in.size(),
           output_names.data(), output_names.size(), out.data());
  for (void* const value : out) made.emplace_back(table, OrtCall::release_value, value);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < out.size(); ++i)
    results.push_back(tensor_of(table, out[i], outputs_[i], output_bytes_max_));
  return results;
}

}  // namespace sabath
