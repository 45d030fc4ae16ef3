package eventstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// ErrWrongRevision is the failure of an append to a stream that is not at the expected revision. [WrongRevisionError]
// has the actual revision.
var ErrWrongRevision = errors.New("stream is at another revision")

// ErrUnavailable is the failure of a call to a store that does not answer now. An append that fails with it may have
// been written.
var ErrUnavailable = failure.NewUnavailable("eventstore_unavailable",
	"The service is temporarily unavailable. Try again in a moment.", time.Second, nil)

// ErrStreamDeleted is the failure of a read of or an append to a stream with a tombstone. It never passes.
var ErrStreamDeleted = errors.New("stream is deleted")

// WrongRevisionError has the actual revision of the stream, so that a writer can say what it missed.
type WrongRevisionError struct {
	Stream   string
	Expected Expected
	Actual   Expected // NoStream when it has no event
}

// Error names the stream and both revisions; -1 means no stream.
func (e *WrongRevisionError) Error() string {
	return fmt.Sprintf("stream %s: expected revision %d, is at %d", e.Stream, e.Expected, e.Actual)
}

// Is lets errors.Is find ErrWrongRevision.
func (e *WrongRevisionError) Is(target error) bool { return target == ErrWrongRevision }

// unavailable copies ErrUnavailable and gives the copy a cause, which goes to the log and never to a client.
func unavailable(cause error) error {
	e := *ErrUnavailable
	e.Cause = cause
	return &e
}

// actualRevision finds the revision in the client's message, because the client's error has no field for it.
var actualRevision = regexp.MustCompile(`but got '([^']*)'`)

// withRevision adds the stream and the expected revision to a wrong-revision error. It returns other errors unchanged.
func withRevision(err error, stream string, expected Expected) error {
	var wrong *WrongRevisionError
	if errors.As(err, &wrong) {
		wrong.Stream, wrong.Expected = stream, expected
	}
	return err
}

// translate turns an error of the client into one of this package. It returns nil and unknown errors unchanged.
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
			return &WrongRevisionError{Actual: actualIn(client.Error())}
		case esdb.ErrorCodeStreamDeleted:
			return fmt.Errorf("%w: %w", ErrStreamDeleted, err)
		}
	}
	if outcomeUnknown(err) || errors.Is(err, ErrClosed) {
		return unavailable(err)
	}
	return err
}

// actualIn takes the actual revision from the client's message; a message without a number means NoStream.
func actualIn(message string) Expected {
	if m := actualRevision.FindStringSubmatch(message); m != nil {
		if n, err := strconv.ParseUint(m[1], 10, 63); err == nil {
			return At(n)
		}
	}
	return NoStream
}

// outcomeUnknown reports whether the server may have done the work of a failed call. The client returns EOF when the
// server ended the call before it had read all of it.
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

// unsettled is the failure of a call that appends, by what ended it. What the server has not refused may have been
// written: the outcome is unknown then, and a caller who has left is told that.
func unsettled(ctx context.Context, err error) error {
	var client *esdb.Error
	if errors.As(err, &client) {
		switch client.Code() {
		case esdb.ErrorCodeWrongExpectedVersion, esdb.ErrorCodeStreamDeleted:
			return err
		}
	}
	switch code := statusOf(err); {
	case slices.Contains(refusals, code):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	case code != codes.OK:
		return unavailable(err)
	}
	return err
}

// refusals are the statuses by which a server says that it has written nothing.
var refusals = []codes.Code{
	codes.InvalidArgument, codes.FailedPrecondition, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented,
}

// connectionLost reports whether the connection is broken, so that the next call needs a new one.
func connectionLost(err error) bool {
	var client *esdb.Error
	if errors.As(err, &client) && (client.Code() == esdb.ErrorUnavailable ||
		client.Code() == esdb.ErrorCodeConnectionClosed) {
		return true
	}
	return statusOf(err) == codes.Unavailable
}

// statusOf finds the gRPC status in an error's chain; codes.OK when there is none.
func statusOf(err error) codes.Code {
	var s interface{ GRPCStatus() *status.Status }
	if errors.As(err, &s) {
		return s.GRPCStatus().Code()
	}
	return codes.OK
}
