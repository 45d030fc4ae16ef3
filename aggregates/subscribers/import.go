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
		Owner:    func(s Import) id.Organization { return s.Owner },
		Commands: []commands.ImportCommand{commands.AskImport{}, commands.RecordImportPart{}},
	}
}

// Import is how far an import has come. The zero value is "does not exist".
type Import struct {
	ID       id.Import
	Owner    id.Organization
	Parts    int
	Next     int // the part that comes next; Parts = all are done
	Told     int // faults that are told
	Finished bool
}

// evolveImport applies one recorded event.
func evolveImport(s Import, e events.ImportEvent) Import {
	switch e := e.(type) {
	case events.ImportAsked:
		return Import{ID: e.ImportID, Owner: e.OrgID, Parts: e.Parts, Told: len(e.Faults)}
	case events.ImportPartDone:
		s.Next, s.Told = e.Part+1, s.Told+len(e.Faults)
	case events.ImportFinished:
		s.Finished = true
	}
	return s
}

// decideImport records each part once, in their order, and the end with the last of them. Faults beyond the bound are
// counted and not told.
func decideImport(s Import, c commands.ImportCommand, now time.Time) ([]events.ImportEvent, error) {
	finished := events.ImportFinished{ImportID: s.ID, OrgID: s.Owner, At: now}
	switch c := c.(type) {
	case commands.AskImport:
		if !s.ID.IsZero() {
			return nil, nil
		}
		asked := events.ImportAsked{
			ImportID: c.ImportID, OrgID: c.OrgID, Source: c.Source, Rows: c.Rows, Parts: c.Parts, Failed: c.Failed,
			Faults: c.Faults[:min(len(c.Faults), commands.MaxImportFaults)], At: now,
		}
		if c.Parts > 0 {
			return []events.ImportEvent{asked}, nil
		}
		finished.ImportID, finished.OrgID = c.ImportID, c.OrgID
		return []events.ImportEvent{asked, finished}, nil
	case commands.RecordImportPart:
		if s.ID.IsZero() {
			return nil, commands.ErrNoImport()
		}
		if c.Part != s.Next || s.Finished {
			return nil, nil
		}
		list := []events.ImportEvent{events.ImportPartDone{
			ImportID: s.ID, OrgID: s.Owner, Part: c.Part, Created: c.Created, Skipped: c.Skipped, Failed: c.Failed,
			Faults: c.Faults[:min(len(c.Faults), commands.MaxImportFaults-s.Told)], At: now,
		}}
		if c.Part+1 < s.Parts {
			return list, nil
		}
		return append(list, finished), nil
	}
	return nil, nil
}
