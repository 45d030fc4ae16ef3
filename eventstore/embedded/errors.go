package embedded

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// refusal is an error of the protocol: a status, and trailers that clients decide by.
type refusal struct {
	code      codes.Code
	message   string
	exception string   // value of the "exception" trailer; empty = none
	trailers  []string // names and values in turn
}

// Error is the text of the status, without the trailers.
func (r *refusal) Error() string { return r.message }

// GRPCStatus lets gRPC send the refusal with its own code.
func (r *refusal) GRPCStatus() *status.Status { return status.New(r.code, r.message) }

// metadata returns the trailers to send after the status; nil when the refusal has none.
func (r *refusal) metadata() metadata.MD {
	if r.exception == "" {
		return nil
	}
	md := metadata.Pairs("exception", r.exception)
	for i := 0; i+1 < len(r.trailers); i += 2 {
		md.Append(r.trailers[i], headerSafe(r.trailers[i+1]))
	}
	return md
}

// headerSafe percent-encodes the bytes that gRPC refuses in a header: all but printable ASCII. gRPC drops a trailer
// with such bytes, and clients read the stream's name without checking that the trailer exists.
func headerSafe(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// streamDeleted answers calls to a stream with a tombstone.
func streamDeleted(stream string) error {
	return &refusal{
		codes.FailedPrecondition, "Event stream '" + stream + "' is deleted.", "stream-deleted",
		[]string{"stream-name", stream},
	}
}

// wrongExpectedVersion answers a delete or tombstone at another revision. An append has a message of its own for this.
func wrongExpectedVersion(stream string, expected, actual int64) error {
	e, a := strconv.FormatInt(expected, 10), strconv.FormatInt(actual, 10)
	return &refusal{
		codes.FailedPrecondition,
		"Append failed due to WrongExpectedVersion. Stream: " + stream + ", Expected version: " + e +
			", Actual version: " + a,
		"wrong-expected-version",
		[]string{"stream-name", stream, "expected-version", e, "actual-version", a},
	}
}

// appendTooLarge answers an append whose data is larger than the limit, in bytes.
func appendTooLarge(limit int) error {
	n := strconv.Itoa(limit)
	return &refusal{
		codes.InvalidArgument, "Maximum Append Size of " + n + " Exceeded.", "maximum-append-size-exceeded",
		[]string{"maximum-append-size", n},
	}
}

// missingMetadata answers an append with an event that lacks its type or content type.
func missingMetadata(property string) error {
	return &refusal{
		codes.InvalidArgument, "Required Metadata Property '" + property + "' is missing",
		"missing-required-metadata-property", []string{"required-metadata-properties", "type,content-type"},
	}
}

// accessDenied answers a call that no client may make, whatever its credentials.
func accessDenied(what string) error {
	return &refusal{codes.PermissionDenied, "Access denied: " + what + ".", "access-denied", nil}
}

// invalidArgument answers a request that the node cannot read or does not support.
func invalidArgument(message string) error {
	return &refusal{code: codes.InvalidArgument, message: message}
}

// unavailable answers when the node cannot serve now. After an append it also means that the outcome is unknown.
func unavailable(message string) error {
	return &refusal{code: codes.Unavailable, message: message}
}

// errStopping answers calls while the node stops.
var errStopping = unavailable("the event store node is stopping")

// fromContext turns the end of a call's context into the status for it.
func fromContext(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return status.Error(codes.DeadlineExceeded, "the deadline passed; the outcome of a write is unknown")
	}
	return status.Error(codes.Canceled, "the call was cancelled; the outcome of a write is unknown")
}
