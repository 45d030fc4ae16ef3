package processrunner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// pageLimit is how many events are read from the feed at a time; as many are with the router at the same time.
const pageLimit = 512

// topic is the name of the subscription in Watermill; every process subscribes to the whole log.
const topic = "$all"

// route runs a Watermill router for the process. Our subscriber delivers events in order, the router calls the handler
// for each in a goroutine of its own, and lanes keep the events of one instance in order.
func (d *round) route(ctx context.Context, after uint64) error {
	router, err := message.NewRouter(message.RouterConfig{CloseTimeout: 4 * time.Second}, watermill.NopLogger{})
	if err != nil {
		return fmt.Errorf("process router: %w", err)
	}
	router.AddMiddleware(
		d.stopOnError,
		middleware.CorrelationID,
		middleware.Retry{ // failures that pass: the database or the log is away
			MaxRetries: math.MaxInt32, InitialInterval: 20 * time.Millisecond, MaxInterval: 5 * time.Second,
			Multiplier:          2,
			RandomizationFactor: 0.2, ShouldRetry: func(p middleware.RetryParams) bool { return passing(p.Err) },
		}.Middleware,
		middleware.Recoverer,
	)
	router.AddConsumerHandler(d.name, topic, newSource(d, after), func(msg *message.Message) error {
		return d.takeEvent(msg.Context(), deliveryOf(msg))
	})
	return router.Run(ctx)
}

// stopOnError is the outermost middleware: an error that a retry cannot help stops the process, visibly.
func (d *round) stopOnError(next message.HandlerFunc) message.HandlerFunc {
	return func(msg *message.Message) ([]*message.Message, error) {
		out, err := next(msg)
		switch {
		case err == nil || msg.Context().Err() != nil:
		case errors.Is(err, errFenced):
			d.fail(err)
		default:
			d.fail(&poison{error: err})
		}
		return out, err
	}
}

// delivery is an event on its way to the handler; it travels in the context of the message.
type delivery struct {
	event *events.Envelope
	key   string
	after uint64 // position of the log from which a reader finds the event
	turn  *turn
	mark  *mark
	cost  int // of the memory that the process holds
}

// deliveryKey is the key of the delivery in a message's context.
type deliveryKey struct{}

// deliveryOf finds the delivery of a message that source has sent.
func deliveryOf(msg *message.Message) *delivery {
	d, _ := msg.Context().Value(deliveryKey{}).(*delivery)
	return d
}

// takeEvent waits for the turn of one event and takes it.
func (d *round) takeEvent(ctx context.Context, v *delivery) error {
	if err := v.turn.wait(ctx); err != nil {
		return err
	}
	return d.gather.take(ctx, d.inputOf(v.event, v.key, v.after))
}

// inputOf makes what take needs of an event; after is a position from which a reader finds the event again.
func (d *round) inputOf(e *events.Envelope, key string, after uint64) input {
	return input{
		Input: processmanagers.Input{Event: e}, key: key, id: e.ID.String(), position: e.Position, after: after,
		cause: causeOf(e), at: e.Meta.At,
	}
}

// source is a Watermill subscriber that delivers the events of the feed that the process handles. Organizations have
// their turns; the events of an instance keep the order of the log.
type source struct {
	*round
	after   uint64
	queue   *fairQueue[*delivery]
	waiting atomic.Int64  // events in the queue
	hold    *hold         // memory of the events that are not taken yet
	briefs  *briefs       // that are not in the queue yet
	window  chan struct{} // one element for each event with the router
}

// newSource makes a source that begins after a position.
func newSource(d *round, after uint64) *source {
	return &source{
		round: d, after: after, queue: newFairQueue[*delivery](pageLimit), hold: &hold{of: d.r.ahead},
		window: make(chan struct{}, pageLimit), briefs: newBriefs(),
	}
}

// Subscribe starts the goroutines that read and send; it closes the channel when ctx ends.
func (s *source) Subscribe(ctx context.Context, _ string) (<-chan *message.Message, error) {
	out := make(chan *message.Message)
	s.loops.Go("process reader", func(ctx context.Context) {
		if err := guarded(func() error { return s.give(ctx) }); err != nil {
			s.fail(err)
		}
	})
	s.loops.Go("brief instances", s.takeBriefs)
	go func() {
		defer close(out)
		defer s.hold.end()
		for {
			v, done, ok := s.queue.pop(ctx)
			if !ok || !s.send(ctx, out, v, done) {
				return
			}
		}
	}()
	return out, nil
}

// Close does nothing: the end of the context ends the subscription.
func (s *source) Close() error { return nil }

// give reads the log until ctx ends: as a stream while it is behind, then page by page.
func (s *source) give(ctx context.Context) error {
	for ctx.Err() == nil {
		var failed error
		for page, err := range s.r.cfg.Feed.Stream(ctx, s.after, s.want, pageLimit) {
			if failed = err; err == nil {
				failed = s.pass(ctx, page)
			}
			if failed != nil {
				break
			}
		}
		if failed == nil {
			var page feed.Page
			if page, failed = s.r.cfg.Feed.Next(ctx, s.after, s.want, pageLimit); failed == nil {
				failed = s.pass(ctx, page)
			}
		}
		if isOther(failed) { // what came after the end is unknown, so nothing is drained
			return &poison{error: s.advise(failed, s.track.low())}
		}
		var bad *poison
		if errors.As(failed, &bad) {
			s.finish(ctx)
			return failed
		}
		if failed != nil && ctx.Err() == nil {
			s.r.logger.WarnContext(ctx, "process cannot read the log", "process", s.name, "error", failed)
			loop.Sleep(ctx, time.Second)
		}
	}
	return nil
}

// drainPatience bounds the wait for commands before a process stops.
const drainPatience = 30 * time.Second

// finish waits until all events before a poisonous one are taken and their commands are executed: they must not wait
// with the process.
func (s *source) finish(ctx context.Context) {
	s.track.look(s.after, eventstore.Mark{})
	_ = s.track.wait(ctx, s.after) // ends with ctx only
	limited, cancel := context.WithTimeout(ctx, drainPatience)
	defer cancel()
	for s.outbox.busy() && loop.Sleep(limited, retryRound) {
		continue
	}
}

// pass queues the events of a page that were not queued before, then notes that all of the page have begun. An event
// that cannot be decoded, or whose type this version of the program does not know, is poison: nothing after it is read,
// and the checkpoint does not pass it.
func (s *source) pass(ctx context.Context, page feed.Page) error {
	for i, e := range page.Events {
		if e.Position <= s.after {
			continue
		}
		key, err := s.keyOf(e)
		if err != nil {
			return &poison{
				error: fmt.Errorf("%s at position %d: %w", e.Type, e.Position, err), stack: loop.StackOf(err),
			}
		}
		if key != "" {
			size := 0
			if page.Sizes != nil {
				size = page.Sizes[i]
			}
			if err := s.queueEvent(ctx, e, key, cost(size)); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.after = e.Position
	}
	s.after = max(s.after, page.UpTo)
	s.track.look(s.after, page.MarkOf(s.after, eventstore.Mark{}))
	return nil
}

// queueEvent queues an event for its instance. It waits while there is no memory for its cost. An event that was not
// queued is an error, so that it is not passed over.
func (s *source) queueEvent(ctx context.Context, e *events.Envelope, key string, cost int) error {
	if err := s.hold.take(ctx, cost); err != nil {
		return err
	}
	s.admit(&delivery{event: e, key: key, after: s.after, mark: s.track.begin(e), cost: cost})
	if e.Position <= s.liveFrom {
		for s.waiting.Load() > pageLimit && loop.Sleep(ctx, time.Millisecond) { // history fills no memory
			continue
		}
	}
	return nil
}

// push puts an event into the queue.
func (s *source) push(v *delivery) {
	s.waiting.Add(1)
	s.queue.push(v.event.Meta.OrgID, v.key, v)
}

// send sends one event as a message, and calls done when it was taken. It waits while pageLimit events are with the
// router, and returns false when ctx ends.
func (s *source) send(ctx context.Context, out chan<- *message.Message, v *delivery, done func()) bool {
	s.waiting.Add(-1)
	select {
	case s.window <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	v.turn = s.lanes.enter(v.key)
	msg := message.NewMessage(v.event.ID.String(), nil)
	middleware.SetCorrelationID(v.event.Meta.CorrelationID, msg)
	msg.SetContext(context.WithValue(ctx, deliveryKey{}, v))
	select {
	case out <- msg:
	case <-ctx.Done():
		return false
	}
	go func() { // waits for the router's answer
		defer func() { <-s.window }()
		select {
		case <-msg.Acked():
			s.track.finish(v.mark)
		case <-msg.Nacked():
		case <-ctx.Done():
		}
		v.turn.leave()
		s.hold.give(v.cost)
		done()
	}()
	return true
}

// keyOf returns the key of an event's instance. A panic in Key is an error.
func (s *source) keyOf(e *events.Envelope) (key string, err error) {
	if u, ok := e.Event.(feed.Undecodable); ok {
		if u.Unknown {
			return "", fmt.Errorf("%w: %w", errUnknown, u.Cause)
		}
		return "", u.Cause
	}
	err = loop.Try(func() error {
		key = s.def.Key(*e)
		return nil
	})
	return key, err
}
