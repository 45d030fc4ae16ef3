package billing

import (
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// NumberSeries defines the number series: one stream for each organization, type of document and prefix. A series is
// never shown to clients, so a missing one is the plain not_found.
func NumberSeries() aggregates.Definition[Numbering, commands.NumberingCommand, events.NumberingEvent] {
	return aggregates.Definition[Numbering, commands.NumberingCommand, events.NumberingEvent]{
		Category: commands.NumberingCategory, Missing: commands.ErrNotFound, Evolve: evolveNumbering,
		Decide: decideNumbering, Owner: ownerNumbering, Close: closeNumbering,
		Commands: []commands.NumberingCommand{commands.GrantNumbers{}, commands.GrantNumber{}},
	}
}

// Numbering is the state of one series. The zero value is a series that has granted no number. It does not remember
// documents: Last tells a block that was granted from one that was not (docs/adr/0017).
type Numbering struct {
	SeriesID id.Series       `json:"series"`
	OrgID    id.Organization `json:"org"`
	Last     int64           `json:"last"` // highest number granted; the first is 1
}

// ownerNumbering never changes: the first grant sets it.
func ownerNumbering(s Numbering) id.Organization { return s.OrgID }

// evolveNumbering applies one recorded event; each grant moves Last.
func evolveNumbering(s Numbering, e events.NumberingEvent) Numbering {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.NumberGranted:
		return Numbering{SeriesID: e.SeriesID, OrgID: e.OrgID, Last: e.Seq}
	case events.NumberingPeriodClosed:
		return aggregates.Opened[Numbering](e.Opening) // older ones also list documents, which nobody needs any more
	}
	return s
}

// decideNumbering only dispatches.
func decideNumbering(s Numbering, c commands.NumberingCommand, now time.Time) ([]events.NumberingEvent, error) {
	switch c := c.(type) {
	case commands.GrantNumbers:
		return decideGrantNumbers(s, c, now), nil
	case commands.GrantNumber:
		return nil, nil
	}
	return nil, nil
}

// decideGrantNumbers grants the next numbers without gaps, or nothing when the caller's list is older than the series.
func decideGrantNumbers(s Numbering, c commands.GrantNumbers, now time.Time) []events.NumberingEvent {
	if c.After != s.Last {
		return nil
	}
	granted := make([]events.NumberingEvent, len(c.Documents))
	for i, d := range c.Documents {
		seq := s.Last + int64(i) + 1
		granted[i] = events.NumberGranted{
			SeriesID: c.SeriesID, OrgID: c.OrgID, Document: c.Document, DocumentID: d.DocumentID,
			SubscriberID: d.SubscriberID, Seq: seq, Number: fmt.Sprintf("%s-%04d", c.Prefix, seq), RunID: c.RunID,
			At: now,
		}
	}
	return granted
}

// closeNumbering passes the whole state on.
func closeNumbering(s Numbering) events.NumberingEvent {
	return events.NumberingPeriodClosed{SeriesID: s.SeriesID, Opening: aggregates.Opening(s)}
}
