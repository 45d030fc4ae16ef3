package processrunner

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// pageLimit is how many events are read from the feed at a time; about as many wait in memory for their turn.
const pageLimit = 256

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
	router.AddConsumerHandler(d.name, topic, &source{round: d, after: after}, func(msg *message.Message) error {
		return d.takeEvent(msg.Context(), deliveryOf(msg))
	})
	return router.Run(ctx)
}

// stopOnError is the outermost middleware: an error that a retry cannot help stops the process, visibly.
func (d *round) stopOnError(next message.HandlerFunc) message.HandlerFunc {
	return func(msg *message.Message) ([]*message.Message, error) {
		out, err := next(msg)
		if err != nil && msg.Context().Err() == nil {
			d.fail(&poison{error: err})
		}
		return out, err
	}
}

// delivery is an event on its way to the handler; it travels in the context of the message.
type delivery struct {
	event *events.Envelope
	key   string
	fault error // the event cannot be decoded, or Key has panicked
	turn  *turn
	mark  *mark
}

// deliveryKey is the key of the delivery in a message's context.
type deliveryKey struct{}

// deliveryOf finds the delivery of a message that source has sent.
func deliveryOf(msg *message.Message) *delivery {
	d, _ := msg.Context().Value(deliveryKey{}).(*delivery)
	return d
}

// takeEvent waits for the turn of one event and takes it. An event with a fault is poison.
func (d *round) takeEvent(ctx context.Context, v *delivery) error {
	if err := v.turn.wait(ctx); err != nil {
		return err
	}
	if v.fault != nil {
		return &poison{error: fmt.Errorf("%s at position %d: %w", v.event.Type, v.event.Position, v.fault)}
	}
	return d.take(ctx, input{
		Input: processmanagers.Input{Event: v.event}, key: v.key, id: v.event.ID.String(), position: v.event.Position,
		cause: causeOf(v.event), suppressed: v.event.Position <= d.liveFrom, at: v.event.Meta.At,
	})
}

// source is a Watermill subscriber that delivers the events of the feed that the process handles.
type source struct {
	*round
	after uint64
}

// Subscribe starts a goroutine that sends messages; it closes the channel when ctx ends.
func (s *source) Subscribe(ctx context.Context, _ string) (<-chan *message.Message, error) {
	out := make(chan *message.Message)
	go func() {
		defer close(out)
		if err := guarded(func() error { return s.give(ctx, out) }); err != nil {
			s.fail(err)
		}
	}()
	return out, nil
}

// Close does nothing: the end of the context ends the subscription.
func (s *source) Close() error { return nil }

// give reads the log until ctx ends: as a stream while it is behind, then page by page.
func (s *source) give(ctx context.Context, out chan<- *message.Message) error {
	window := make(chan struct{}, pageLimit)
	for ctx.Err() == nil {
		var failed error
		for page, err := range s.r.cfg.Feed.Stream(ctx, s.after, s.want, pageLimit) {
			if failed = err; err == nil {
				s.pass(ctx, out, window, page)
			}
		}
		if failed == nil {
			var page feed.Page
			if page, failed = s.r.cfg.Feed.Next(ctx, s.after, s.want, pageLimit); failed == nil {
				s.pass(ctx, out, window, page)
			}
		}
		if failed != nil && ctx.Err() == nil {
			s.r.logger.WarnContext(ctx, "process cannot read the log", "process", s.name, "error", failed)
			loop.Sleep(ctx, time.Second)
		}
	}
	return nil
}

// pass sends the events of a page that were not sent before, then notes that all of the page have begun.
func (s *source) pass(ctx context.Context, out chan<- *message.Message, window chan struct{}, page feed.Page) {
	for _, e := range page.Events {
		if e.Position > s.after && !s.send(ctx, out, window, e) {
			return
		}
	}
	if ctx.Err() == nil {
		s.after = page.UpTo
		s.track.look(page.UpTo)
	}
}

// send sends one event as a message, when it belongs to an instance. It waits while pageLimit events are in progress,
// and returns false when ctx ends.
func (s *source) send(ctx context.Context, out chan<- *message.Message, window chan struct{}, e *events.Envelope) bool {
	key, err := s.keyOf(e)
	if key == "" && err == nil {
		return true
	}
	select {
	case window <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	v := &delivery{event: e, key: key, fault: err, mark: s.track.begin(e.Position), turn: s.lanes.enter(key)}
	msg := message.NewMessage(e.ID.String(), nil)
	middleware.SetCorrelationID(e.Meta.CorrelationID, msg)
	msg.SetContext(context.WithValue(ctx, deliveryKey{}, v))
	select {
	case out <- msg:
	case <-ctx.Done():
		return false
	}
	go func() { // waits for the router's answer
		defer func() { <-window }()
		select {
		case <-msg.Acked():
			s.track.finish(v.mark)
		case <-msg.Nacked():
		case <-ctx.Done():
		}
		v.turn.leave()
	}()
	return true
}

// keyOf returns the key of an event's instance. A panic in Key is an error.
func (s *source) keyOf(e *events.Envelope) (key string, err error) {
	if u, ok := e.Event.(feed.Undecodable); ok {
		return "", u.Cause
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("key: panic: %v", v)
		}
	}()
	return s.def.Key(*e), nil
}
