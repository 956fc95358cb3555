-- wrk: closed-loop searches. Bodies and tokens come from files, one a line, each used in turn; prints one JSON line.
-- The environment names the rest: SEARCH_BODIES, SEARCH_TOKENS, SEARCH_PATH.
local function lines_of(name)
  local found = {}
  for line in io.lines(os.getenv(name)) do found[#found + 1] = line end
  return found
end

local bodies, tokens, path = lines_of("SEARCH_BODIES"), lines_of("SEARCH_TOKENS"), os.getenv("SEARCH_PATH")
local headers, sent = { ["Content-Type"] = "application/json" }, 0

request = function()
  headers["Authorization"] = "Bearer " .. tokens[sent % #tokens + 1]
  local body = bodies[sent % #bodies + 1]
  sent = sent + 1
  return wrk.format("POST", path, headers, body)
end

done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"bytes":%d,"p50_ms":%.3f,"p95_ms":%.3f,"p99_ms":%.3f,"max_ms":%.3f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1000, latency:percentile(95) / 1000, latency:percentile(99) / 1000, latency.max / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
