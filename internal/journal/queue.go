package journal

import (
	"context"
	"sync"
)

// Queue is a journal whose records are taken in the order in which they were appended. Safe for concurrent use, but for
// one that takes.
type Queue struct {
	*Journal

	waits  sync.Mutex
	places []Place // not taken, the oldest first
}

// OpenQueue opens a journal as Open does.
func OpenQueue(ctx context.Context, cfg Config) (*Queue, error) {
	q := &Queue{}
	j, err := Open(ctx, cfg, func(p Place, _ []byte) { q.places = append(q.places, p) })
	if err != nil {
		return nil, err
	}
	q.Journal = j
	return q, nil
}

// Append writes records as Journal.Append does.
func (q *Queue) Append(records ...[]byte) error {
	places, err := q.Journal.Append(records...)
	q.waits.Lock()
	defer q.waits.Unlock()
	q.places = append(q.places, places...)
	return err
}

// Next gives the oldest records, most of them at most, and their places for Taken. A damaged one has a place but is
// left out.
func (q *Queue) Next(most int) (records [][]byte, places []Place, err error) {
	q.waits.Lock()
	places = q.places[:min(most, len(q.places)):min(most, len(q.places))]
	q.waits.Unlock()
	for _, p := range places {
		one, err := q.Read(p)
		if err != nil {
			return nil, nil, err
		}
		records = append(records, one...)
	}
	return records, places, nil
}

// Taken forgets the places that Next has given.
func (q *Queue) Taken(places []Place) error {
	q.waits.Lock()
	if q.places = q.places[len(places):]; len(q.places) == 0 {
		q.places = nil
	}
	q.waits.Unlock()
	return q.Journal.Taken(places...)
}
