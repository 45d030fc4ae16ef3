// Package subscriptions hands the log to Watermill: a Subscriber over $all with one message for each event, in order, the
// next one after the one before was acknowledged. Reading starts where the consumer says: it keeps the checkpoint.
package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
)

// Metadata keys of a message. The payload is empty: events with personal fields are never written out again.
const (
	KeyType     = "event_type"
	KeyStream   = "stream"
	KeyRevision = "revision"
	KeyPosition = "position"
)

// Topic is one way of reading the log.
type Topic struct {
	// Types are the event types wanted; nil = all.
	Types []string
	// After gives the position to start behind; asked at each Subscribe.
	After func(context.Context) (uint64, error)
	// Passed, when set, is told how far the log has been looked at when no message says so: everything up to position
	// that was wanted has been acknowledged. caughtUp says that what follows is live.
	Passed func(position uint64, caughtUp bool)
}

// Config says what a subscriber works with.
type Config struct {
	Store  *eventstore.Store
	Topics map[string]Topic
	Logger *slog.Logger // default: slog.Default
	// RetryPause is the time between a negative acknowledgement and the next delivery; default 1 s.
	RetryPause time.Duration
}

// defaultRetryPause is Config.RetryPause when it is zero.
const defaultRetryPause = time.Second

// Subscriber implements message.Subscriber. Safe for concurrent use.
type Subscriber struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // ends with Close: Watermill's Close has no context
	cancel context.CancelFunc
	open   sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

// Subscriber is Watermill's.
var _ message.Subscriber = (*Subscriber)(nil)

// New makes a subscriber.
func New(cfg Config) *Subscriber {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.RetryPause == 0 {
		cfg.RetryPause = defaultRetryPause
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Subscriber{cfg: cfg, ctx: ctx, cancel: cancel}
}

// ErrClosed is a Subscribe after Close.
var ErrClosed = errors.New("subscriber is closed")

// Subscribe reads the topic until ctx ends or Close; then the channel is closed.
func (s *Subscriber) Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error) {
	t, ok := s.cfg.Topics[topic]
	if !ok {
		return nil, fmt.Errorf("subscribe: no topic %q", topic)
	}
	var after uint64
	if t.After != nil {
		var err error
		if after, err = t.After(ctx); err != nil {
			return nil, fmt.Errorf("subscribe to %s: %w", topic, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	d := &delivery{
		topic: t, out: make(chan *message.Message), pause: s.cfg.RetryPause,
		log: s.cfg.Logger.With("topic", topic), sub: s.cfg.Store.Subscribe(ctx, after, t.Types),
	}
	s.open.Go(func() {
		defer stop()
		defer cancel()
		d.run(ctx)
	})
	return d.out, nil
}

// Close ends all subscriptions and waits for that.
func (s *Subscriber) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.open.Wait()
	return nil
}

// delivery is one subscription.
type delivery struct {
	topic Topic
	sub   *eventstore.Subscription
	out   chan *message.Message
	pause time.Duration
	log   *slog.Logger
}

// run delivers until ctx ends, or until a poison event was acknowledged: nothing can be given behind it.
func (d *delivery) run(ctx context.Context) {
	defer close(d.out)
	defer d.sub.Close()
	for {
		item, err := d.sub.Next(ctx)
		var poison *catalog.UndecodableError
		switch {
		case ctx.Err() != nil || errors.Is(err, context.Canceled):
			return
		case errors.As(err, &poison):
			if d.deliver(ctx, content{err: err, poison: poison}) {
				d.log.Error("subscription ends at an event that cannot be read", "position", poison.Position, "error", err)
			}
			return
		case err != nil:
			d.log.Warn("event cannot be read now", "error", err)
			if !wait(ctx, d.pause) {
				return
			}
		case item.Event != nil:
			if !d.deliver(ctx, content{event: *item.Event}) {
				return
			}
		case d.topic.Passed != nil:
			d.topic.Passed(item.Position, item.CaughtUp)
		}
	}
}

// deliver gives one event until it is acknowledged; false when ctx ended before.
func (d *delivery) deliver(ctx context.Context, c content) bool {
	for {
		msg := c.message(ctx)
		select {
		case d.out <- msg:
		case <-ctx.Done():
			return false
		}
		select {
		case <-msg.Acked():
			return true
		case <-msg.Nacked():
			if !wait(ctx, d.pause) {
				return false
			}
		case <-ctx.Done():
			return false
		}
	}
}

// wait pauses; false when ctx ended.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// content is what a message is about: an event, or one that cannot be read.
type content struct {
	event  events.Envelope
	poison *catalog.UndecodableError
	err    error
}

// contentKey finds the content in a message's context: Watermill has no other place for a value that is not bytes.
type contentKey struct{}

// message makes a new message of the content.
func (c content) message(ctx context.Context) *message.Message {
	at, name := c.event, c.event.ID.String()
	if c.poison != nil {
		at = events.Envelope{Type: c.poison.Type, Stream: c.poison.Stream, Revision: c.poison.Revision, Position: c.poison.Position}
		name = "undecodable-" + strconv.FormatUint(at.Position, 10)
	}
	msg := message.NewMessageWithContext(context.WithValue(ctx, contentKey{}, c), name, nil)
	msg.Metadata.Set(KeyType, at.Type)
	msg.Metadata.Set(KeyStream, at.Stream)
	msg.Metadata.Set(KeyRevision, strconv.FormatUint(at.Revision, 10))
	msg.Metadata.Set(KeyPosition, strconv.FormatUint(at.Position, 10))
	return msg
}

// Envelope is the event that a message is about, decoded once. It fails with a catalog.UndecodableError for a poison event:
// the handler returns that error, so that it is seen; acknowledging it ends the subscription.
func Envelope(msg *message.Message) (events.Envelope, error) {
	c, ok := msg.Context().Value(contentKey{}).(content)
	if !ok {
		return events.Envelope{}, errors.New("message is not from the event store")
	}
	return c.event, c.err
}
