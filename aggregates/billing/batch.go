package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// BatchUndos defines how batches are taken back: a stream for each batch, with a round for each time.
func BatchUndos() aggregates.Definition[BatchUndo, commands.BatchUndoCommand, events.BatchUndoEvent] {
	return aggregates.Definition[BatchUndo, commands.BatchUndoCommand, events.BatchUndoEvent]{
		Category: commands.BatchUndoCategory, Missing: commands.ErrNoBatch, Evolve: evolveBatchUndo,
		Decide: decideBatchUndo, Owner: func(s BatchUndo) id.Organization { return s.Org },
		Commands: []commands.BatchUndoCommand{commands.AskBatchUndo{}, commands.RecordBatchUndoPart{}},
	}
}

// BatchUndo is how far a batch is taken back. The zero value is "never asked for".
type BatchUndo struct {
	ID       id.Batch
	Org      id.Organization
	Kind     string
	Reason   string
	Round    int       // 0 = never asked for
	AskedAt  time.Time // of the round; what the batch makes later stays
	Next     int       // part that comes next
	After    id.Any    // the last item of the part before it; zero before the first
	Running  bool
	Undone   int // of the round
	Credited int
	Blocked  int
}

// evolveBatchUndo applies one recorded event.
func evolveBatchUndo(s BatchUndo, e events.BatchUndoEvent) BatchUndo {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.BatchUndoAsked:
		return BatchUndo{
			ID: e.BatchID, Org: e.OrgID, Kind: e.Kind, Reason: e.Reason, Round: e.Round, AskedAt: e.At, Running: true,
		}
	case events.BatchUndoPartDone:
		s.Next = e.Part + 1
		for _, item := range e.Items {
			s.After = item.ItemID
			switch item.Outcome {
			case events.ItemUndone:
				s.Undone++
			case events.ItemCredited:
				s.Credited++
			default:
				s.Blocked++
			}
		}
	case events.BatchUndoFinished:
		s.Running = false
	}
	return s
}

// decideBatchUndo dispatches.
func decideBatchUndo(s BatchUndo, c commands.BatchUndoCommand, now time.Time) ([]events.BatchUndoEvent, error) {
	switch c := c.(type) {
	case commands.AskBatchUndo:
		switch {
		case s.Round > 0 && (s.Org != c.OrgID || s.Kind != c.Kind):
			return nil, commands.ErrNoBatch()
		case s.Running:
			return nil, nil
		}
		return []events.BatchUndoEvent{events.BatchUndoAsked{
			BatchID: c.BatchID, OrgID: c.OrgID, Kind: c.Kind, Round: s.Round + 1, Reason: c.Reason, At: now,
		}}, nil
	case commands.RecordBatchUndoPart:
		return decideUndoPart(s, c, now)
	}
	return nil, nil
}

// decideUndoPart records a part once, and the end when nothing was left for it.
func decideUndoPart(s BatchUndo, c commands.RecordBatchUndoPart, now time.Time) ([]events.BatchUndoEvent, error) {
	switch {
	case s.Round == 0:
		return nil, commands.ErrNoBatch()
	case !s.Running || c.Round != s.Round || c.Part != s.Next:
		return nil, nil
	case len(c.Items) == 0:
		return []events.BatchUndoEvent{events.BatchUndoFinished{
			BatchID: s.ID, OrgID: s.Org, Kind: s.Kind, Round: s.Round, Undone: s.Undone, Credited: s.Credited,
			Blocked: s.Blocked, At: now,
		}}, nil
	}
	return []events.BatchUndoEvent{events.BatchUndoPartDone{
		BatchID: s.ID, OrgID: s.Org, Kind: s.Kind, Round: s.Round, Part: c.Part, Items: c.Items, At: now,
	}}, nil
}
