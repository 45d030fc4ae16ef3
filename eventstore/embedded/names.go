package embedded

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Names and numbers that the protocol fixes, and one bound of our own.
const (
	allStream         = "$all"
	usersStream       = "$users"
	linkType          = "$>"
	metadataType      = "$metadata"
	tombstoneType     = "$streamDeleted"
	tombstoneRevision = math.MaxInt64
	// softDeletedBefore is the $tb value that means "soft-deleted".
	softDeletedBefore = math.MaxInt64
	// maxNameBytes bounds stream names and event types: both must fit a PostgreSQL index entry.
	maxNameBytes = 1024
)

// isMetastream reports whether the stream holds the metadata of another stream.
func isMetastream(stream string) bool { return strings.HasPrefix(stream, "$$") }

// metastreamOf adds the prefix "$$", which every metastream has.
func metastreamOf(stream string) string { return "$$" + stream }

// originalOf names the stream that a metastream describes. The name must begin with "$$".
func originalOf(metastream string) string { return metastream[2:] }

// checkStreamName refuses names that a text column and an index cannot hold, and empty names.
func checkStreamName(name string) error {
	switch {
	case name == "" || name == "$$":
		return invalidArgument("the stream name is empty")
	case !storable(name):
		return invalidArgument("the stream name is not valid UTF-8, contains a NUL or is longer than 1024 bytes")
	}
	return nil
}

// checkWritable also refuses $all, which has no events of its own.
func checkWritable(name string) error {
	if err := checkStreamName(name); err != nil {
		return err
	}
	if name == allStream {
		return accessDenied("write to $all")
	}
	return nil
}

// storable reports whether a text column and its index can hold the name.
func storable(s string) bool {
	return len(s) <= maxNameBytes && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// hiddenFromFilters reports whether filtered reads of $all always leave the stream out, as the real server does.
func hiddenFromFilters(stream string) bool {
	if stream == "$epoch-information" {
		return true
	}
	return strings.HasPrefix(stream, "$persistentsubscription-$all::") &&
		(strings.HasSuffix(stream, "-checkpoint") || strings.HasSuffix(stream, "-parked"))
}
