package embedded

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// streamMeta holds the settings of a stream's metadata that the node obeys. The zero value keeps every event.
type streamMeta struct {
	maxCount int64 // 0 = no limit
	maxAge   int64 // ticks; 0 = no limit
	before   int64 // $tb: events below it are hidden; softDeletedBefore = soft-deleted
}

// softDeleted reports whether the stream reads as missing until the next append to it.
func (m streamMeta) softDeleted() bool { return m.before == softDeletedBefore }

// lowest is the first visible revision of a stream whose last revision is given.
func (m streamMeta) lowest(last int64) int64 {
	low := m.before
	if m.maxCount > 0 && last-m.maxCount+1 > low {
		low = last - m.maxCount + 1
	}
	return low
}

// bornAfter is the creation time, in ticks, below which events have expired; math.MinInt64 when events never expire.
func (m streamMeta) bornAfter(now time.Time) int64 {
	if m.maxAge == 0 {
		return math.MinInt64
	}
	return ticks(now) - m.maxAge
}

// metastreamMeta is the fixed metadata of every metastream: readers see only its last event.
var metastreamMeta = streamMeta{maxCount: 1}

// parseStreamMeta reads a metadata event. Like the real server it ignores the whole body when one setting is malformed.
func parseStreamMeta(isJSON bool, body []byte) streamMeta {
	var fields map[string]json.RawMessage
	if !isJSON || json.Unmarshal(body, &fields) != nil {
		return streamMeta{}
	}
	var m streamMeta
	ok := integer(fields, "$maxCount", 1, &m.maxCount) && integer(fields, "$tb", 0, &m.before)
	var seconds, ignored int64
	ok = ok && integer(fields, "$maxAge", 1, &seconds) && integer(fields, "$cacheControl", 1, &ignored)
	if !ok {
		return streamMeta{}
	}
	const perSecond = 10_000_000
	m.maxAge = min(seconds, math.MaxInt64/4/perSecond) * perSecond
	return m
}

// integer stores a whole number that is not below least. An absent or null field changes nothing. It returns false for
// a malformed field.
func integer(fields map[string]json.RawMessage, name string, least int64, into *int64) bool {
	raw, ok := fields[name]
	if !ok || string(raw) == "null" {
		return true
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < least {
		return false
	}
	*into = n
	return true
}

// undeleted builds the metadata body that brings a soft-deleted stream back: $tb is first, all other fields stay.
func undeleted(isJSON bool, body []byte, first int64) []byte {
	fields := map[string]json.RawMessage{}
	if isJSON && json.Unmarshal(body, &fields) != nil || fields == nil {
		fields = map[string]json.RawMessage{}
	}
	fields["$tb"] = json.RawMessage(strconv.FormatInt(first, 10))
	out, err := json.Marshal(fields)
	if err != nil { // only valid raw messages went in
		return []byte(`{"$tb":` + strconv.FormatInt(first, 10) + `}`)
	}
	return out
}

// softDeletion is the complete metadata body that a soft delete writes: $tb is the greatest number.
const softDeletion = `{"$tb":9223372036854775807}`
