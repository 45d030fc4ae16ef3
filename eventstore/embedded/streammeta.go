package embedded

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// streamMeta is what the node obeys in a stream's metadata. The zero value keeps everything.
type streamMeta struct {
	maxCount int64 // 0 = no limit
	maxAge   int64 // ticks; 0 = no limit
	before   int64 // $tb: events below are gone; softDeletedBefore = soft-deleted
}

// softDeleted tells whether the stream reads as missing until it is written again.
func (m streamMeta) softDeleted() bool { return m.before == softDeletedBefore }

// lowest is the first revision still visible in a stream whose last one is given.
func (m streamMeta) lowest(last int64) int64 {
	low := m.before
	if m.maxCount > 0 && last-m.maxCount+1 > low {
		low = last - m.maxCount + 1
	}
	return low
}

// bornAfter is the creation time, in ticks, below which events have expired; math.MinInt64 when they never do.
func (m streamMeta) bornAfter(now time.Time) int64 {
	if m.maxAge == 0 {
		return math.MinInt64
	}
	return ticks(now) - m.maxAge
}

// metastreamMeta is the fixed metadata of every metastream: only its last event exists for readers.
var metastreamMeta = streamMeta{maxCount: 1}

// parseStreamMeta reads a metadata event. Like the real server it ignores a body that is not well-formed as a whole.
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

// integer stores a whole number of at least min; an absent or null field leaves the target alone. False means
// malformed.
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

// undeleted is the metadata body that brings a soft-deleted stream back: everything kept, $tb moved to the first new
// event.
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

// softDeletion is the whole body of the metadata event that a soft delete writes.
const softDeletion = `{"$tb":9223372036854775807}`
