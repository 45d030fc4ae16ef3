package httpapi

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Storage knows whether the database can serve requests now.
type Storage interface {
	// Until gives a context that has ended while requests cannot be served, and ends as soon as that is known: for
	// requests that write, or for those that only read.
	Until(writes bool) context.Context
}

// errStorage is the cause of the end of a request that the database cannot serve.
var errStorage = errors.New("the database does not serve requests")

// storageRetry is the Retry-After of such a request, and storageSettle the time that it has to keep its idempotency
// key, which nobody needs: its lease ends by itself.
const (
	storageRetry  = 5 * time.Second
	storageSettle = 100 * time.Millisecond
)

// whileServed runs a request for as long as the database can serve it, and refuses it at once when the database cannot.
// Callbacks of outside systems are always tried, because many of them come only once; what needs no database is too.
func (s *Server) whileServed(ctx context.Context, r *Route, run func(ctx context.Context) error) error {
	if s.cfg.Storage == nil || r.machine() || r.needsNoStorage() {
		return run(ctx)
	}
	until := s.cfg.Storage.Until(r.mutates())
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if until.Err() != nil {
		return errStorage
	}
	defer context.AfterFunc(until, func() { cancel(errStorage) })()
	err := run(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errStorage) {
		return fmt.Errorf("%w: %w", errStorage, err)
	}
	return err
}

// needsNoStorage reports whether the route answers without the database. Streams are told from memory.
func (r *Route) needsNoStorage() bool { return r.Stream || r.InMemory && !r.mutates() }
