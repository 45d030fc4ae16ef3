package eventstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// ErrWrongRevision is an append to a stream that is not at the expected revision. See WrongRevisionError for where it
// is.
var ErrWrongRevision = errors.New("stream is at another revision")

// ErrUnavailable is a store that does not answer now. After an append the outcome is unknown.
var ErrUnavailable = failure.NewUnavailable("eventstore_unavailable", "The service is temporarily unavailable.",
	time.Second, nil)

// ErrStreamDeleted is a stream with a tombstone.
var ErrStreamDeleted = errors.New("stream is deleted")

// WrongRevisionError says where the stream is.
type WrongRevisionError struct {
	Stream   string
	Expected Expected
	Actual   Expected // NoStream when it has no event
}

// Error names the stream and both revisions.
func (e *WrongRevisionError) Error() string {
	return fmt.Sprintf("stream %s: expected revision %d, is at %d", e.Stream, e.Expected, e.Actual)
}

// Is makes it an ErrWrongRevision.
func (e *WrongRevisionError) Is(target error) bool { return target == ErrWrongRevision }

// unavailable wraps a cause as ErrUnavailable.
func unavailable(cause error) error {
	e := *ErrUnavailable
	e.Cause = cause
	return &e
}

// actualRevision finds the revision in the client's message: its error carries it in no other way.
var actualRevision = regexp.MustCompile(`but got '([^']*)'`)

// withRevision names stream and revisions in a wrong-revision error; others pass.
func withRevision(err error, stream string, expected Expected) error {
	var wrong *WrongRevisionError
	if errors.As(err, &wrong) {
		wrong.Stream, wrong.Expected = stream, expected
	}
	return err
}

// translate turns an error of the client into one of this package.
func translate(err error) error {
	if err == nil {
		return nil
	}
	var own *failure.Error
	if errors.As(err, &own) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	var client *esdb.Error
	if errors.As(err, &client) {
		switch client.Code() {
		case esdb.ErrorCodeWrongExpectedVersion:
			return wrongRevision(client)
		case esdb.ErrorCodeStreamDeleted:
			return fmt.Errorf("%w: %w", ErrStreamDeleted, err)
		}
	}
	if outcomeUnknown(err) {
		return unavailable(err)
	}
	return err
}

// wrongRevision reads the actual revision.
func wrongRevision(e *esdb.Error) error {
	wrong := &WrongRevisionError{Actual: NoStream}
	if m := actualRevision.FindStringSubmatch(e.Error()); m != nil && m[1] != "no_stream" {
		if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			wrong.Actual = Expected(n)
		}
	}
	return wrong
}

// outcomeUnknown tells whether a call may or may not have had its effect. An EOF is what the client makes of a server
// that ended the call before it had read all of it.
func outcomeUnknown(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var client *esdb.Error
	if errors.As(err, &client) {
		switch client.Code() {
		case esdb.ErrorUnavailable, esdb.ErrorCodeConnectionClosed, esdb.ErrorCodeDeadlineExceeded,
			esdb.ErrorCodeNotLeader, esdb.ErrorAborted:
			return true
		}
	}
	switch statusOf(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted:
		return true
	}
	return false
}

// connectionLost tells whether the connection itself should be made anew.
func connectionLost(err error) bool {
	var client *esdb.Error
	if errors.As(err, &client) && (client.Code() == esdb.ErrorUnavailable ||
		client.Code() == esdb.ErrorCodeConnectionClosed) {
		return true
	}
	return statusOf(err) == codes.Unavailable
}

// statusOf is the gRPC status in an error's chain, OK without one.
func statusOf(err error) codes.Code {
	var s interface{ GRPCStatus() *status.Status }
	if errors.As(err, &s) {
		return s.GRPCStatus().Code()
	}
	return codes.OK
}
