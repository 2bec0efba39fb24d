// Field numbers of the OTLP messages that the library writes and reads: common, resource, trace v1
// and profiles v1development as of opentelemetry-proto 1.10.
#pragma once

#include <protozero/types.hpp>

namespace hotspan::agent::otlp {

using Tag = protozero::pbf_tag_type;

// AnyValue, KeyValue, Resource, InstrumentationScope
inline constexpr Tag kAnyString = 1;
inline constexpr Tag kAnyBool = 2;
inline constexpr Tag kAnyInt = 3;
inline constexpr Tag kAnyDouble = 4;
inline constexpr Tag kAnyArray = 5;
inline constexpr Tag kArrayValues = 1;
inline constexpr Tag kKeyValueKey = 1;
inline constexpr Tag kKeyValueValue = 2;
inline constexpr Tag kResourceAttributes = 1;
inline constexpr Tag kScopeName = 1;
inline constexpr Tag kScopeVersion = 2;

// ExportTraceServiceRequest and ExportProfilesServiceRequest have the same skeleton:
// request.1 = per resource {1 resource, 2 per scope {1 scope, 2 items}}.
inline constexpr Tag kRequestResources = 1;
inline constexpr Tag kPerResourceResource = 1;
inline constexpr Tag kPerResourceScopes = 2;
inline constexpr Tag kPerScopeScope = 1;
inline constexpr Tag kPerScopeItems = 2;
inline constexpr Tag kProfilesRequestDictionary = 2;

inline constexpr Tag kSpanTraceId = 1;
inline constexpr Tag kSpanSpanId = 2;
inline constexpr Tag kSpanTraceState = 3;
inline constexpr Tag kSpanParentSpanId = 4;
inline constexpr Tag kSpanName = 5;
inline constexpr Tag kSpanKind = 6;
inline constexpr Tag kSpanStart = 7;
inline constexpr Tag kSpanEnd = 8;
inline constexpr Tag kSpanAttributes = 9;
inline constexpr Tag kSpanDroppedAttributes = 10;
inline constexpr Tag kSpanEvents = 11;
inline constexpr Tag kSpanDroppedEvents = 12;
inline constexpr Tag kSpanStatus = 15;
inline constexpr Tag kSpanFlags = 16;
inline constexpr Tag kEventTime = 1;
inline constexpr Tag kEventName = 2;
inline constexpr Tag kEventAttributes = 3;
inline constexpr Tag kStatusMessage = 2;
inline constexpr Tag kStatusCode = 3;
inline constexpr int kStatusCodeError = 2;
inline constexpr unsigned kFlagHasIsRemote = 0x100;
inline constexpr unsigned kFlagIsRemote = 0x200;

// ExportTraceServiceResponse and ExportProfilesServiceResponse
inline constexpr Tag kResponsePartialSuccess = 1;
inline constexpr Tag kPartialRejected = 1;
inline constexpr Tag kPartialMessage = 2;

inline constexpr Tag kDictionaryMappings = 1;
inline constexpr Tag kDictionaryLocations = 2;
inline constexpr Tag kDictionaryFunctions = 3;
inline constexpr Tag kDictionaryLinks = 4;
inline constexpr Tag kDictionaryStrings = 5;
inline constexpr Tag kDictionaryAttributes = 6;
inline constexpr Tag kDictionaryStacks = 7;

inline constexpr Tag kProfileSampleType = 1;
inline constexpr Tag kProfileSamples = 2;
inline constexpr Tag kProfileTime = 3;
inline constexpr Tag kProfileDuration = 4;
inline constexpr Tag kProfilePeriodType = 5;
inline constexpr Tag kProfilePeriod = 6;
inline constexpr Tag kProfileId = 7;
inline constexpr Tag kProfileAttributes = 11;
inline constexpr Tag kValueTypeType = 1;
inline constexpr Tag kValueTypeUnit = 2;
inline constexpr Tag kSampleStack = 1;
inline constexpr Tag kSampleAttributes = 2;
inline constexpr Tag kSampleLink = 3;
inline constexpr Tag kSampleValues = 4;
inline constexpr Tag kSampleTimestamps = 5;
inline constexpr Tag kStackLocations = 1;
inline constexpr Tag kLocationMapping = 1;
inline constexpr Tag kLocationAddress = 2;
inline constexpr Tag kLocationLines = 3;
inline constexpr Tag kLocationAttributes = 4;
inline constexpr Tag kLineFunction = 1;
inline constexpr Tag kFunctionName = 1;
inline constexpr Tag kMappingStart = 1;
inline constexpr Tag kMappingLimit = 2;
inline constexpr Tag kMappingFileOffset = 3;
inline constexpr Tag kMappingFilename = 4;
inline constexpr Tag kMappingAttributes = 5;
inline constexpr Tag kLinkTraceId = 1;
inline constexpr Tag kLinkSpanId = 2;
inline constexpr Tag kAttributeKey = 1;
inline constexpr Tag kAttributeValue = 2;

}  // namespace hotspan::agent::otlp
