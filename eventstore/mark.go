package eventstore

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Mark names an event of the log by its position and its id. A reader keeps the newest one that it has seen beside its
// checkpoint, and knows the log again by it: a log that was restored to an older state and has grown since has another
// event at that position. The zero value names none. In a database it is a text, null for none.
type Mark struct {
	Position uint64
	ID       id.Event
}

// IsZero reports that it names no event.
func (m Mark) IsZero() bool { return m.ID.IsZero() }

// Check compares the mark with the id of the event that the log has at its position; none there says nothing, because
// an event may have been removed from a cluster. It fails with an OtherLogError.
func (m Mark) Check(has id.Event) error {
	if m.IsZero() || has.IsZero() || has == m.ID {
		return nil
	}
	return &OtherLogError{After: m.Position, Head: m.Position - 1, Had: m.ID, Has: has}
}

// Value implements driver.Valuer.
func (m Mark) Value() (driver.Value, error) {
	if m.IsZero() {
		return nil, nil //nolint:nilnil // null
	}
	return strconv.FormatUint(m.Position, 10) + " " + m.ID.String(), nil
}

// Scan implements sql.Scanner.
func (m *Mark) Scan(src any) error {
	*m = Mark{}
	if src == nil {
		return nil
	}
	text, ok := src.(string)
	position, event, both := strings.Cut(text, " ")
	if !ok || !both {
		return fmt.Errorf("%v is no mark of the log", src)
	}
	var err error
	if m.Position, err = strconv.ParseUint(position, 10, 63); err != nil {
		return fmt.Errorf("mark of the log: %w", err)
	}
	if m.ID, err = id.Parse[id.Event](event); err != nil {
		return fmt.Errorf("mark of the log: %w", err)
	}
	return nil
}

// OtherLogError is the failure of a reader whose log is not the one that it has read: it was restored to an older
// state, or a server took over that lacked its last events. The log gives the positions after that state to other
// events, which the reader would never see.
type OtherLogError struct {
	After    uint64   // the position of the reader, or of its mark where the events there differ
	Head     uint64   // the log may be the reader's up to here, and is another one after it; the end of a shorter log
	Had, Has id.Event // the reader's event at After and that of the log; none = the log ends at Head, before After
}

// Error says what happened; docs/operations.md says what to do.
func (e *OtherLogError) Error() string {
	if e.Has.IsZero() {
		return fmt.Sprintf("the log ends at %d, before the checkpoint %d: the log was restored to an older state than "+
			"its reader", e.Head, e.After)
	}
	return fmt.Sprintf("the log has the event %s at position %d, where its reader has had %s: it is another log, such "+
		"as one that was restored to an older state than its reader and has grown since", e.Has, e.After, e.Had)
}

// ShortLogError is the failure of a reader whose log ends before what it has read. A server that lags behind answers so
// for a short time, and a log that was restored to an older state until it has grown: so the reader asks again, and
// acts on nothing meanwhile.
type ShortLogError struct {
	Before uint64 // where the log has no event yet, and none after it
}

// Error says what is waited for.
func (e *ShortLogError) Error() string {
	return fmt.Sprintf("the log ends before position %d, up to which it was read: its server lags behind, or it was "+
		"restored to an older state; nothing of it is used until it reaches that position", e.Before)
}

// EventAt gives the id of the event at a position, none when no event has exactly this position. It fails with a
// ShortLogError when the log ends before it.
func (s *Store) EventAt(ctx context.Context, position uint64) (id.Event, error) {
	page, err := s.readAll(ctx, from(position), 1)
	if err != nil {
		return id.Event{}, err
	}
	if len(page.list) == 0 && position > 0 {
		return id.Event{}, &ShortLogError{Before: position}
	}
	return idAt(page, position), nil
}

// from reads forwards from a position, inclusive.
func from(position uint64) esdb.ReadAllOptions {
	return esdb.ReadAllOptions{
		Direction: esdb.Forwards, From: esdb.Position{Commit: position, Prepare: position},
	}
}

// idAt is the id of the first event of a page if it has a position.
func idAt(page rawPage, position uint64) id.Event {
	if len(page.list) == 0 || page.list[0].Position != position {
		return id.Event{}
	}
	return page.list[0].ID
}

// sameLog looks, before the subscription goes on over a new connection, whether the log is still the one that it has
// given. It fails with an OtherLogError when the log has another event where the last one was, and with a ShortLogError
// when the log ends before it: what the log gets there would be passed over.
func (s *Subscription) sameLog(ctx context.Context, client *esdb.Client) error {
	at := s.mark.Position
	if s.mark.IsZero() {
		at = s.last
	}
	if at == 0 {
		return nil
	}
	in, err := client.ReadAll(ctx, from(at), 1)
	if err != nil {
		return err
	}
	page, err := drain(in, 1)
	if err != nil {
		return err
	}
	has := idAt(page, at)
	switch {
	case len(page.list) == 0:
		return &ShortLogError{Before: at}
	case s.mark.IsZero():
		s.mark = Mark{Position: at, ID: has}
		return nil
	}
	return s.mark.Check(has)
}
