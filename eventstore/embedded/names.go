package embedded

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Names and numbers the protocol fixes.
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

// isMetastream tells whether the stream holds another stream's metadata.
func isMetastream(stream string) bool { return strings.HasPrefix(stream, "$$") }

// metastreamOf names the stream that holds this stream's metadata.
func metastreamOf(stream string) string { return "$$" + stream }

// originalOf names the stream that a metastream describes.
func originalOf(metastream string) string { return metastream[2:] }

// checkStreamName refuses names that the store cannot hold.
func checkStreamName(name string) error {
	switch {
	case name == "" || name == "$$":
		return invalidArgument("the stream name is empty")
	case !storable(name):
		return invalidArgument("the stream name is not valid UTF-8, contains a NUL or is longer than 1024 bytes")
	}
	return nil
}

// checkWritable refuses streams that no client may write.
func checkWritable(name string) error {
	if err := checkStreamName(name); err != nil {
		return err
	}
	if name == allStream {
		return accessDenied("write to $all")
	}
	return nil
}

// storable tells whether a text column can hold the name.
func storable(s string) bool {
	return len(s) <= maxNameBytes && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// hiddenFromFilters tells whether a filtered read of $all never shows the stream.
func hiddenFromFilters(stream string) bool {
	if stream == "$epoch-information" {
		return true
	}
	return strings.HasPrefix(stream, "$persistentsubscription-$all::") &&
		(strings.HasSuffix(stream, "-checkpoint") || strings.HasSuffix(stream, "-parked"))
}
