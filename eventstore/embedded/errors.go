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

// refusal is an error of the protocol: a status and the trailers that clients of every language read.
type refusal struct {
	code      codes.Code
	message   string
	exception string // value of the "exception" trailer; empty = none
	trailers  []string
}

// Error is the status message.
func (r *refusal) Error() string { return r.message }

// GRPCStatus lets gRPC send the refusal as it is.
func (r *refusal) GRPCStatus() *status.Status { return status.New(r.code, r.message) }

// metadata is what follows the status on the wire.
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

// headerSafe percent-encodes the bytes that gRPC refuses in a header: all but printable ASCII. A trailer that is
// refused would be missing, and clients index the stream's name without looking.
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

// streamDeleted: the stream has a tombstone.
func streamDeleted(stream string) error {
	return &refusal{
		codes.FailedPrecondition, "Event stream '" + stream + "' is deleted.", "stream-deleted",
		[]string{"stream-name", stream},
	}
}

// wrongExpectedVersion: a delete or tombstone named another revision. An append answers with a message instead.
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

// appendTooLarge: the data of one append passes the limit.
func appendTooLarge(limit int) error {
	n := strconv.Itoa(limit)
	return &refusal{
		codes.InvalidArgument, "Maximum Append Size of " + n + " Exceeded.", "maximum-append-size-exceeded",
		[]string{"maximum-append-size", n},
	}
}

// missingMetadata: a proposed event lacks its type or content type.
func missingMetadata(property string) error {
	return &refusal{
		codes.InvalidArgument, "Required Metadata Property '" + property + "' is missing",
		"missing-required-metadata-property", []string{"required-metadata-properties", "type,content-type"},
	}
}

// accessDenied: nobody may do this.
func accessDenied(what string) error {
	return &refusal{codes.PermissionDenied, "Access denied: " + what + ".", "access-denied", nil}
}

// invalidArgument: the request cannot be understood.
func invalidArgument(message string) error {
	return &refusal{code: codes.InvalidArgument, message: message}
}

// unavailable: the node cannot answer now. After an append it also means that the outcome is unknown.
func unavailable(message string) error {
	return &refusal{code: codes.Unavailable, message: message}
}

// errStopping is what calls get while the node stops.
var errStopping = unavailable("the event store node is stopping")

// fromContext turns the end of a call into its status.
func fromContext(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return status.Error(codes.DeadlineExceeded, "the deadline passed; the outcome of a write is unknown")
	}
	return status.Error(codes.Canceled, "the call was cancelled; the outcome of a write is unknown")
}
