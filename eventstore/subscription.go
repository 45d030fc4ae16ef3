package eventstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"golang.org/x/sync/semaphore"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Item is one message of a subscription. It is an event, or a checkpoint (there is no wanted event up to Position), or
// the message that everything up to Position has been given and live events follow.
type Item struct {
	Event    *events.Envelope // nil for a checkpoint
	Position uint64           // up to here the log has been searched; never goes back
	CaughtUp bool             // never with an Event; comes again after each reconnection
	Size     int              // of the Event as it is stored, in bytes
	More     bool             // Next gives another item at once
}

// Sizes and limits of a subscription. The server sends a checkpoint each time it has searched a window of events. The
// window is large while the subscription catches up. Live, it is one event, because a reader may wait for the position.
const (
	readAhead      = 1024        // raw items buffered for the reader
	aheadBytes     = 8 << 20     // bytes of them
	historyWindow  = 1024        // events searched between two checkpoints, catching up
	liveWindow     = 1           // the same, live
	decodeTogether = 256         // items decoded with one look-up of keys
	decodeBytes    = 4 << 20     // bytes of them, which the last may pass
	endPatience    = time.Second // wait for the client when the subscription ends
)

// Subscription gives the events of the log in order, each once, until its context ends. After a lost connection it
// connects again and goes on from the last position. Only one goroutine may call Next.
type Subscription struct {
	store  *Store
	types  []string
	wanted func(catalog.Recorded) bool
	cancel context.CancelFunc
	ended  chan struct{}
	raw    chan rawItem
	ahead  *semaphore.Weighted // aheadBytes, for the items in raw

	pending  []rawItem // taken from raw, not decoded yet
	ready    []Item    // decoded
	poisoned error     // returned by Next after the ready items

	last  uint64 // position of the last raw item; only run uses it
	mark  Mark   // the last event up to it; only run uses it
	other error  // why the subscription has ended by itself; read it after ended
}

// rawItem is an Item whose event is still encoded.
type rawItem struct {
	event    *catalog.Recorded
	position uint64
	caughtUp bool
}

// size is the number of bytes of the event; 0 without one.
func (i rawItem) size() int {
	if i.event == nil {
		return 0
	}
	return sizeOf(*i.event)
}

// weight is the size as it counts for reading ahead: an event that is larger than everything waits for an empty buffer.
func (i rawItem) weight() int64 { return int64(min(i.size(), aheadBytes)) }

// Subscribe gives the events after a position (0 = from the start) of the given types (nil = all types of the product).
// The server leaves out events of other types, and the subscription those of other applications. It ends with ctx or
// Close.
func (s *Store) Subscribe(ctx context.Context, after uint64, types []string) *Subscription {
	return s.Resume(ctx, after, Mark{}, types)
}

// Resume is Subscribe for a reader that knows an event up to the position, the newest: the subscription begins only
// when the log has the same one.
func (s *Store) Resume(ctx context.Context, after uint64, mark Mark, types []string) *Subscription {
	ctx, cancel := context.WithCancel(ctx)
	sub := &Subscription{
		store: s, types: s.prefixes(types), wanted: s.matcher(types), cancel: cancel,
		ended: make(chan struct{}), raw: make(chan rawItem, readAhead), last: after,
		mark: mark, ahead: semaphore.NewWeighted(aheadBytes),
	}
	go sub.run(ctx)
	return sub
}

// Close ends the subscription and waits for its goroutine. After it, Next returns context.Canceled.
func (s *Subscription) Close() {
	s.cancel()
	<-s.ended
}

// Next waits for the next item. An event that cannot be decoded gives a catalog.UndecodableError in its place in the
// order, and every later call returns the same error. Other errors (such as keys out of reach) may pass: call again.
// After the end of the subscription it returns context.Canceled. When the log turns out to be another one over a new
// connection, the subscription ends with an OtherLogError, and when it ends before what was read, with a ShortLogError:
// subscribe again after a pause.
func (s *Subscription) Next(ctx context.Context) (Item, error) {
	for len(s.ready) == 0 {
		if s.poisoned != nil {
			return Item{}, s.poisoned
		}
		if err := s.fill(ctx); err != nil {
			return Item{}, err
		}
		if err := s.decode(ctx); err != nil {
			return Item{}, err
		}
	}
	item := s.ready[0]
	s.ready = s.ready[1:]
	item.More = len(s.ready) > 0
	return item, nil
}

// fill waits until at least one raw item is pending and takes up to decodeTogether items without waiting longer.
func (s *Subscription) fill(ctx context.Context) error {
	if len(s.pending) > 0 {
		return nil
	}
	bytes := 0
	take := func(item rawItem) {
		s.pending = append(s.pending, item)
		s.ahead.Release(item.weight())
		bytes += item.size()
	}
	select {
	case item := <-s.raw:
		take(item)
	case <-s.ended:
		return cmp.Or(s.other, context.Canceled)
	case <-ctx.Done():
		return ctx.Err()
	}
	for len(s.pending) < decodeTogether && bytes < decodeBytes {
		select {
		case item := <-s.raw:
			take(item)
		default:
			return nil
		}
	}
	return nil
}

// decode turns the pending items into ready ones. When it fails, they stay pending, unless one cannot be decoded.
func (s *Subscription) decode(ctx context.Context) error {
	page := make([]catalog.Recorded, 0, len(s.pending))
	for _, p := range s.pending {
		if p.event != nil {
			page = append(page, *p.event)
		}
	}
	decoded, err := s.store.codec.Decode(ctx, page)
	var poison *catalog.UndecodableError
	if err != nil && !errors.As(err, &poison) {
		return err // the items stay pending for the next call
	}
	s.ready = make([]Item, 0, len(s.pending))
	for _, p := range s.pending {
		item := Item{Position: p.position, CaughtUp: p.caughtUp, Size: p.size()}
		if p.event != nil {
			if len(decoded) == 0 {
				break // this event cannot be decoded
			}
			item.Event, decoded = &decoded[0], decoded[1:]
		}
		s.ready = append(s.ready, item)
	}
	s.poisoned, s.pending = err, nil
	return nil
}

// run connects and reads until ctx ends or the store is closed.
func (s *Subscription) run(ctx context.Context) {
	defer close(s.ended)
	live, pause := false, loop.Backoff{Min: firstPause, Max: longestPause}
	for ctx.Err() == nil {
		before := s.last
		caughtUp, err := s.attempt(ctx, live)
		if err == nil && caughtUp {
			live = true // connect again, now with a checkpoint at every event
			continue
		}
		live = false
		if ctx.Err() != nil || errors.Is(err, ErrClosed) {
			return
		}
		s.store.link.tell()
		var other *OtherLogError
		var short *ShortLogError
		if errors.As(err, &other) || errors.As(err, &short) {
			s.other = err
			return
		}
		if s.last > before {
			pause.Reset()
		}
		s.store.log.Warn("event subscription interrupted", "position", s.last, "pause", pause.Pause(), "error", err)
		if !pause.Wait(ctx) {
			return
		}
	}
}

// attempt runs follow, but returns at most endPatience after ctx or the store has ended: a client that lost its server
// may ignore the context for a while, and the subscription must end nevertheless.
func (s *Subscription) attempt(ctx context.Context, live bool) (bool, error) {
	done := make(chan outcome[bool], 1)
	go func() {
		caughtUp, err := s.follow(ctx, live)
		done <- outcome[bool]{caughtUp, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	case <-s.store.link.closed:
		s.cancel()
	}
	timer := time.NewTimer(endPatience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	return false, ctx.Err()
}

// follow reads over one connection until the connection drops or, unless live, until it has caught up.
func (s *Subscription) follow(ctx context.Context, live bool) (caughtUp bool, err error) {
	link := s.store.link
	session, err := link.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("event store client: %v", p)
		}
		link.release(session, err)
	}()
	if err := s.sameLog(ctx, session.client); err != nil {
		return false, err
	}
	in, err := session.client.SubscribeToAll(ctx, s.options(live))
	if err != nil {
		return false, err
	}
	defer func() { _ = in.Close() }()
	for {
		e := in.Recv()
		switch {
		case e.SubscriptionDropped != nil:
			return false, e.SubscriptionDropped.Error
		case e.EventAppeared != nil:
			err = s.push(ctx, recorded(e.EventAppeared))
		case e.CheckPointReached != nil:
			err = s.pass(ctx, e.CheckPointReached.Commit, false)
		case e.CaughtUp != nil && !live:
			return true, nil
		case e.CaughtUp != nil:
			err = s.pass(ctx, s.last, true)
		}
		if err != nil {
			return false, err
		}
	}
}

// options asks for the wanted types after the last position. The server filters by prefix of the type.
func (s *Subscription) options(live bool) esdb.SubscribeToAllOptions {
	opts := esdb.SubscribeToAllOptions{From: esdb.Start{}, MaxSearchWindow: historyWindow, CheckpointInterval: 1}
	if s.last > 0 {
		opts.From = esdb.Position{Commit: s.last, Prepare: s.last}
	}
	if live {
		opts.MaxSearchWindow = liveWindow
	}
	opts.Filter = &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Prefixes: s.types}
	if len(s.types) == 0 {
		opts.Filter = esdb.ExcludeSystemEventsFilter()
	}
	return opts
}

// push hands an event to the reader, unless the reader had it. A type that only begins like a wanted one, and an event
// of another application, count as searched.
func (s *Subscription) push(ctx context.Context, e catalog.Recorded) error {
	if e.Position <= s.last {
		return nil
	}
	s.mark = Mark{Position: e.Position, ID: e.ID}
	if !s.wanted(e) {
		return s.pass(ctx, e.Position, false)
	}
	return s.hand(ctx, rawItem{event: &e, position: e.Position})
}

// pass hands the reader the position up to which the log has been searched, when the position is new.
func (s *Subscription) pass(ctx context.Context, position uint64, caughtUp bool) error {
	if position <= s.last && !caughtUp {
		return nil
	}
	return s.hand(ctx, rawItem{position: max(position, s.last), caughtUp: caughtUp})
}

// hand waits until the reader has room, or ctx ends, and then moves the last position.
func (s *Subscription) hand(ctx context.Context, item rawItem) error {
	if err := s.ahead.Acquire(ctx, item.weight()); err != nil {
		return err
	}
	select {
	case s.raw <- item:
		s.last = item.position
		return nil
	case <-ctx.Done():
		s.ahead.Release(item.weight())
		return ctx.Err()
	}
}
