package eventstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Item is one thing a subscription gives: an event, a checkpoint (nothing wanted up to Position), or the news that
// everything up to Position has been given and what follows is live.
type Item struct {
	Event    *events.Envelope // nil for a checkpoint
	Position uint64           // up to which the log has been looked at; only grows
	CaughtUp bool             // without Event; said again after each reconnection
}

// How far ahead of its reader a subscription reads, and how often it tells how far it got past events that are not
// wanted: seldom while it catches up, at every event when live, since somebody may wait for that position.
const (
	readAhead      = 1024
	historyWindow  = 1024
	liveWindow     = 1
	decodeTogether = 256
	endPatience    = time.Second
)

// Subscription gives the events of the log in order, each once, as long as its context lives. Lost connections are made
// anew from the last position. For one reader at a time.
type Subscription struct {
	store  *Store
	types  []string
	wanted func(string) bool
	cancel context.CancelFunc
	ended  chan struct{}
	raw    chan rawItem

	pending  []rawItem // taken from raw, not decoded yet
	ready    []Item    // decoded
	poisoned error     // stands behind ready

	last uint64 // position of the last raw item; run's own
}

// rawItem is an item before decoding.
type rawItem struct {
	event    *catalog.Recorded
	position uint64
	caughtUp bool
}

// Subscribe gives the events after a position (0 = from the start) of the given types (nil = all of the product's).
// Events of other types are left out by the server. It ends with ctx or Close.
func (s *Store) Subscribe(ctx context.Context, after uint64, types []string) *Subscription {
	ctx, cancel := context.WithCancel(ctx)
	sub := &Subscription{
		store: s, types: s.codec.StoredTypes(types), wanted: s.matcher(types), cancel: cancel,
		ended: make(chan struct{}), raw: make(chan rawItem, readAhead), last: after,
	}
	go sub.run(ctx)
	return sub
}

// Close ends the subscription. Next gives context.Canceled from then on.
func (s *Subscription) Close() {
	s.cancel()
	<-s.ended
}

// Next waits for the next item. A catalog.UndecodableError comes in its place in the order and stays: nothing behind it
// is ever given. Another error (keys out of reach) may pass: call again. After the end it is the context's error.
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
	return item, nil
}

// fill waits for one raw item, unless some are pending, and takes what else is there.
func (s *Subscription) fill(ctx context.Context) error {
	if len(s.pending) > 0 {
		return nil
	}
	select {
	case item := <-s.raw:
		s.pending = append(s.pending, item)
	case <-s.ended:
		return context.Canceled
	case <-ctx.Done():
		return ctx.Err()
	}
	for len(s.pending) < decodeTogether {
		select {
		case item := <-s.raw:
			s.pending = append(s.pending, item)
		default:
			return nil
		}
	}
	return nil
}

// decode turns the pending items into ready ones, with one look-up of keys.
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
		return err // pending stays
	}
	s.ready = make([]Item, 0, len(s.pending))
	for _, p := range s.pending {
		item := Item{Position: p.position, CaughtUp: p.caughtUp}
		if p.event != nil {
			if len(decoded) == 0 {
				break // the poison stands here
			}
			item.Event, decoded = &decoded[0], decoded[1:]
		}
		s.ready = append(s.ready, item)
	}
	s.poisoned, s.pending = err, nil
	return nil
}

// run keeps a connection until ctx ends.
func (s *Subscription) run(ctx context.Context) {
	defer close(s.ended)
	live, pause := false, loop.Backoff{Min: firstPause, Max: longestPause}
	for ctx.Err() == nil {
		before := s.last
		caughtUp, err := s.attempt(ctx, live)
		if err == nil && caughtUp {
			live = true // once more, now with a checkpoint at every event
			continue
		}
		live = false
		if ctx.Err() != nil || errors.Is(err, errClosed) {
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

// attempt is follow with an end: a client that lost its server may ignore the context for a while, which must not keep
// the subscription from ending.
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

// follow reads one connection until it drops or, unless live, until it has caught up.
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

// options asks for the wanted types after the last position.
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

// push hands an event to the reader, once. A type that merely begins like a wanted one counts as passed.
func (s *Subscription) push(ctx context.Context, e catalog.Recorded) error {
	if e.Position <= s.last {
		return nil
	}
	if !s.wanted(e.Type) {
		return s.pass(ctx, e.Position, false)
	}
	return s.hand(ctx, rawItem{event: &e, position: e.Position})
}

// pass tells the reader how far the log has been looked at.
func (s *Subscription) pass(ctx context.Context, position uint64, caughtUp bool) error {
	if position <= s.last && !caughtUp {
		return nil
	}
	return s.hand(ctx, rawItem{position: max(position, s.last), caughtUp: caughtUp})
}

// hand waits until the reader has room.
func (s *Subscription) hand(ctx context.Context, item rawItem) error {
	select {
	case s.raw <- item:
		s.last = item.position
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
