package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Exports defines copies of all that an organization has: one short stream for each.
func Exports() aggregates.Definition[Export, commands.ExportCommand, events.ExportEvent] {
	return aggregates.Definition[Export, commands.ExportCommand, events.ExportEvent]{
		Category: commands.ExportCategory, Missing: commands.ErrNoExport, Evolve: evolveExport, Decide: decideExport,
		Owner: func(s Export) id.Organization { return s.Owner },
		Commands: []commands.ExportCommand{commands.AskExport{}, commands.FinishExport{}, commands.FailExport{},
			commands.FetchExport{}},
	}
}

// Export is a copy that was asked for. The zero value is "does not exist".
type Export struct {
	ID      id.Export
	Owner   id.Organization
	AskedAt time.Time
	Parts   int // 0 = it is not finished
	Bytes   int64
	EndsAt  time.Time // from when on it is no longer kept
	Failed  bool      // it could not be made
}

// evolveExport applies one recorded event.
func evolveExport(s Export, e events.ExportEvent) Export {
	switch e := e.(type) {
	case events.ExportAsked:
		return Export{ID: e.ExportID, Owner: e.OrgID, AskedAt: e.At}
	case events.ExportFinished:
		s.Parts, s.Bytes, s.EndsAt, s.Failed = e.Parts, e.Bytes, e.EndsAt, false
	case events.ExportFailed:
		s.Failed = true
	case events.ExportFetched:
	}
	return s
}

// decideExport gives a copy away as long as it is kept.
func decideExport(s Export, c commands.ExportCommand, now time.Time) ([]events.ExportEvent, error) {
	if ask, ok := c.(commands.AskExport); ok {
		if !s.ID.IsZero() {
			return nil, nil
		}
		return []events.ExportEvent{events.ExportAsked{ExportID: ask.ExportID, OrgID: ask.OrgID, At: now}}, nil
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoExport()
	}
	switch c := c.(type) {
	case commands.AskExport:
	case commands.FinishExport:
		if s.Parts > 0 {
			return nil, nil
		}
		return []events.ExportEvent{events.ExportFinished{
			ExportID: s.ID, OrgID: s.Owner, Parts: c.Parts, Bytes: c.Bytes, EndsAt: c.EndsAt, At: now,
		}}, nil
	case commands.FailExport:
		if s.Parts > 0 || s.Failed {
			return nil, nil
		}
		return []events.ExportEvent{events.ExportFailed{ExportID: s.ID, OrgID: s.Owner, Code: c.Code, At: now}}, nil
	case commands.FetchExport:
		switch {
		case s.Failed:
			return nil, failure.NewConflict("export_failed", "The export could not be made. Ask for a new one.")
		case s.Parts == 0:
			return nil, failure.NewConflict("export_not_ready", "The export is not finished yet.")
		case !now.Before(s.EndsAt):
			return nil, failure.NewConflict("export_ended", "The export is no longer kept. Ask for a new one.")
		}
		return []events.ExportEvent{events.ExportFetched{ExportID: s.ID, OrgID: s.Owner, At: now}}, nil
	}
	return nil, nil
}
