// The records of all verbs as the JSON that `--json` prints; to_json() gives its text. Pure; any thread.
#pragma once

#include "verbs/verb.h"

namespace sabath {

struct AdoptionRecord;
struct ApplyRecord;
struct AssetSummary;
struct CiteRecord;
struct CollectionRecord;
struct CompareRecord;
struct Configuration;
struct DerivationStep;
struct DoctorRecord;
struct ExportRecord;
struct FetchRecord;
struct FetchersRecord;
struct Hdf5HashRecord;
struct Hdf5InspectRecord;
struct Hdf5SelectRecord;
struct InspectRecord;
struct HubAdoptionRecord;
struct ImportRecord;
struct ConversionCheckRecord;
struct ConvertRecord;
struct InferRecord;
struct TaskRecord;
struct InfoRecord;
struct InitRecord;
struct ListRecord;
struct LogRecord;
struct ManifestCreateRecord;
struct ManifestDiffRecord;
struct ManifestDifference;
struct ManifestEntry;
struct ManifestExportRecord;
struct ManifestShowRecord;
struct ManifestVerifyRecord;
struct Metadata;
struct MetricsRecord;
struct PathRecord;
struct KeepRecord;
struct PlanRecord;
struct Recipe;
struct RemovalRecord;
struct ReportRecord;
struct RunForecast;
struct RunsRecord;
struct SampleRecord;
struct ServeRecord;
struct StageRecord;
struct SupportingRecord;
struct TrustAddRecord;
struct TrustListRecord;
struct TrustRevokeRecord;
struct UndoRecord;
struct UnkeepRecord;
struct UnstageRecord;
struct UsageRecord;
struct VerificationRecord;
struct ViewRecord;
struct WantRecord;
struct WhereRecord;

[[nodiscard]] Json json_of(const AdoptionRecord& record);
[[nodiscard]] Json json_of(const ApplyRecord& record);
[[nodiscard]] Json json_of(const HubAdoptionRecord& record);
[[nodiscard]] Json json_of(const CiteRecord& record);
[[nodiscard]] Json json_of(const CollectionRecord& record);
[[nodiscard]] Json json_of(const CompareRecord& record);
[[nodiscard]] Json json_of(const Configuration& configuration);
[[nodiscard]] Json json_of(const DoctorRecord& record);
[[nodiscard]] Json json_of(const ExportRecord& record);
[[nodiscard]] Json json_of(const FetchRecord& record);
[[nodiscard]] Json json_of(const FetchersRecord& record);
[[nodiscard]] Json json_of(const Hdf5HashRecord& record);
[[nodiscard]] Json json_of(const Hdf5InspectRecord& record);
[[nodiscard]] Json json_of(const Hdf5SelectRecord& record);
[[nodiscard]] Json json_of(const InspectRecord& record);
[[nodiscard]] Json json_of(const ImportRecord& record);
[[nodiscard]] Json json_of(const InferRecord& record);
[[nodiscard]] Json json_of(const ConvertRecord& record);
[[nodiscard]] Json json_of(const TaskRecord& record);
[[nodiscard]] Json json_of(const ConversionCheckRecord& record);
[[nodiscard]] Json json_of(const InfoRecord& record);
[[nodiscard]] Json json_of(const InitRecord& record);
[[nodiscard]] Json json_of(const ListRecord& record);
[[nodiscard]] Json json_of(const LogRecord& record);
[[nodiscard]] Json json_of(const ManifestCreateRecord& record);
[[nodiscard]] Json json_of(const ManifestDiffRecord& record);
[[nodiscard]] Json json_of(const ManifestDifference& difference);
[[nodiscard]] Json json_of(const ManifestEntry& entry);
[[nodiscard]] Json json_of(const ManifestExportRecord& record);
[[nodiscard]] Json json_of(const ManifestShowRecord& record);
[[nodiscard]] Json json_of(const ManifestVerifyRecord& record);
[[nodiscard]] Json json_of(const Metadata& data);  // a member for each key of a recipe
[[nodiscard]] Json json_of(const MetricsRecord& record);
[[nodiscard]] Json json_of(const PathRecord& record);
[[nodiscard]] Json json_of(const KeepRecord& record);
[[nodiscard]] Json json_of(const PlanRecord& record);
[[nodiscard]] Json json_of(const RemovalRecord& record);
[[nodiscard]] Json json_of(const ReportRecord& record);
[[nodiscard]] Json json_of(const RunForecast& record);
[[nodiscard]] Json json_of(const RunsRecord& record);
[[nodiscard]] Json json_of(const SampleRecord& record);
[[nodiscard]] Json json_of(const ServeRecord& record);
[[nodiscard]] Json json_of(const StageRecord& record);
[[nodiscard]] Json json_of(const SupportingRecord& record);
[[nodiscard]] Json json_of(const TrustAddRecord& record);
[[nodiscard]] Json json_of(const TrustListRecord& record);
[[nodiscard]] Json json_of(const TrustRevokeRecord& record);
[[nodiscard]] Json json_of(const UndoRecord& record);
[[nodiscard]] Json json_of(const UnkeepRecord& record);
[[nodiscard]] Json json_of(const UnstageRecord& record);
[[nodiscard]] Json json_of(const UsageRecord& record);
[[nodiscard]] Json json_of(const VerificationRecord& record);
[[nodiscard]] Json json_of(const ViewRecord& record);
[[nodiscard]] Json json_of(const WantRecord& record);
[[nodiscard]] Json json_of(const WhereRecord& record);

[[nodiscard]] AssetSummary summary_of(const Recipe& recipe, bool present);

}  // namespace sabath
