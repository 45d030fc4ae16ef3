package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Imports defines files of customers from other systems: one short stream for each.
func Imports() aggregates.Definition[Import, commands.ImportCommand, events.ImportEvent] {
	return aggregates.Definition[Import, commands.ImportCommand, events.ImportEvent]{
		Category: commands.ImportCategory, Missing: commands.ErrNoImport, Evolve: evolveImport, Decide: decideImport,
		Owner: func(s Import) id.Organization { return s.Owner },
		Commands: []commands.ImportCommand{commands.AskImport{}, commands.AskImportAgain{}, commands.RecordImportPart{},
			commands.LoseImportRows{}},
	}
}

// Import is how far an import has come. The zero value is "does not exist".
type Import struct {
	ID       id.Import
	Owner    id.Organization
	Round    int // how often it has begun again
	Rows     int
	Done     int // rows that wait no longer
	Parts    int
	Next     int // the part that comes next; Parts = all are done
	Told     int // faults that are told
	Finished bool
	Lost     bool      // it was finished before its last row
	At       time.Time // of the last event
}

// Stalled reports whether the import begins again when its file is sent again: its rows were lost, or it has recorded
// nothing for so long that they may be.
func (s Import) Stalled(now time.Time) bool {
	return s.Lost || !s.Finished && !now.Before(s.At.Add(commands.ImportStalled))
}

// evolveImport applies one recorded event.
func evolveImport(s Import, e events.ImportEvent) Import {
	switch e := e.(type) {
	case events.ImportAsked:
		return Import{
			ID: e.ImportID, Owner: e.OrgID, Rows: e.Rows, Done: e.Skipped + e.Failed, Parts: e.Parts,
			Told: len(e.Faults), At: e.At,
		}
	case events.ImportBegunAgain:
		return Import{
			ID: s.ID, Owner: s.Owner, Round: e.Round, Rows: e.Rows, Done: e.Skipped + e.Failed, Parts: e.Parts,
			Told: len(e.Faults), At: e.At,
		}
	case events.ImportPartDone:
		s.Next, s.Told, s.At = e.Part+1, s.Told+len(e.Faults), e.At
		s.Done += e.Created + e.Skipped + e.Failed
	case events.ImportRowsLost:
		s.Done, s.Lost = s.Done+e.Failed, true
	case events.ImportFinished:
		s.Finished = true
	}
	return s
}

// decideImport begins an import, takes its parts in their order, and ends it.
func decideImport(s Import, c commands.ImportCommand, now time.Time) ([]events.ImportEvent, error) {
	if ask, ok := c.(commands.AskImport); ok {
		return decideAskImport(s, ask, now), nil
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoImport()
	}
	finished := events.ImportFinished{ImportID: s.ID, OrgID: s.Owner, At: now}
	switch c := c.(type) {
	case commands.AskImport:
	case commands.AskImportAgain:
		if c.Round != s.Round+1 || !s.Stalled(now) {
			return nil, nil
		}
		return endedAtOnce(c.AskImport, events.ImportBegunAgain{
			ImportID: s.ID, OrgID: s.Owner, Round: c.Round, Rows: c.Rows, Parts: c.Parts, Skipped: c.Skipped,
			Failed: c.Failed, Faults: toldFaults(c.AskImport), At: now,
		}, now), nil
	case commands.LoseImportRows:
		if c.Round != s.Round || s.Finished {
			return nil, nil
		}
		return []events.ImportEvent{events.ImportRowsLost{
			ImportID: s.ID, OrgID: s.Owner, Failed: max(s.Rows-s.Done, 0), Fault: lostFault, At: now,
		}, finished}, nil
	case commands.RecordImportPart:
		return decideImportPart(s, c, finished), nil
	}
	return nil, nil
}

// lostFault tells of rows that are no longer kept. It is about the file, as faults of the header are.
var lostFault = events.ImportFault{
	Row: 1, Message: "was not taken in to its end: its rows are no longer kept. Please send the same file again.",
}

// decideAskImport begins an import once.
func decideAskImport(s Import, c commands.AskImport, now time.Time) []events.ImportEvent {
	if !s.ID.IsZero() {
		return nil
	}
	return endedAtOnce(c, events.ImportAsked{
		ImportID: c.ImportID, OrgID: c.OrgID, Source: c.Source, Rows: c.Rows, Parts: c.Parts, Skipped: c.Skipped,
		Failed: c.Failed, Faults: toldFaults(c), At: now,
	}, now)
}

// toldFaults are those that are told; further ones are counted.
func toldFaults(c commands.AskImport) []events.ImportFault {
	return c.Faults[:min(len(c.Faults), commands.MaxImportFaults)]
}

// endedAtOnce adds the end to the beginning of an import without a row to take in.
func endedAtOnce(c commands.AskImport, began events.ImportEvent, now time.Time) []events.ImportEvent {
	if c.Parts > 0 {
		return []events.ImportEvent{began}
	}
	return []events.ImportEvent{began, events.ImportFinished{ImportID: c.ImportID, OrgID: c.OrgID, At: now}}
}

// decideImportPart records each part once, in their order, and the end with the last of them. Faults beyond the bound
// are counted and not told.
func decideImportPart(s Import, c commands.RecordImportPart, finished events.ImportFinished) []events.ImportEvent {
	if c.Round != s.Round || c.Part != s.Next || s.Finished {
		return nil
	}
	list := []events.ImportEvent{events.ImportPartDone{
		ImportID: s.ID, OrgID: s.Owner, Part: c.Part, Created: c.Created, Skipped: c.Skipped, Failed: c.Failed,
		Faults: c.Faults[:min(len(c.Faults), commands.MaxImportFaults-s.Told)], At: finished.At,
	}}
	if c.Part+1 < s.Parts {
		return list
	}
	return append(list, finished)
}
