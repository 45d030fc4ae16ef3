package billing

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// NumberSeries is the definition of number series.
func NumberSeries() aggregates.Definition[Numbering, commands.NumberingCommand, events.NumberingEvent] {
	return aggregates.Definition[Numbering, commands.NumberingCommand, events.NumberingEvent]{
		Category: commands.NumberingCategory, Missing: commands.ErrNotFound, Evolve: evolveNumbering,
		Decide: decideNumbering, Owner: ownerNumbering, Close: closeNumbering,
		Commands: []commands.NumberingCommand{commands.GrantNumber{}},
	}
}

// rememberedDocuments is how many documents back a repeated request finds the number it was granted. A request is
// repeated within minutes of the first; the series may be years long.
const rememberedDocuments = 1000

// Numbering is the state of one series. The zero value is a series that has granted nothing.
type Numbering struct {
	SeriesID id.Series
	OrgID    id.Organization
	Last     int64  // the number granted last
	Recent   *Grant // the newest grant first
}

// Grant is a number that belongs to a document. Grants are a list that is only added to, so that states share it.
type Grant struct {
	DocumentID id.Any
	Seq        int64
	Before     *Grant
}

// ownerNumbering is the organization that owns the series.
func ownerNumbering(s Numbering) id.Organization { return s.OrgID }

// granted finds the number of a document among the remembered ones.
func (s Numbering) granted(document id.Any) bool {
	g := s.Recent
	for i := 0; g != nil && i < rememberedDocuments; i++ {
		if g.DocumentID == document {
			return true
		}
		g = g.Before
	}
	return false
}

// evolveNumbering applies one recorded fact.
func evolveNumbering(s Numbering, e events.NumberingEvent) Numbering {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.NumberGranted:
		s.SeriesID, s.OrgID, s.Last = e.SeriesID, e.OrgID, e.Seq
		s.Recent = &Grant{DocumentID: e.DocumentID, Seq: e.Seq, Before: s.Recent}
	case events.NumberingPeriodClosed:
		return openingNumbering(e.Opening)
	}
	return s
}

// decideNumbering dispatches to the rule of each command.
func decideNumbering(s Numbering, c commands.NumberingCommand, now time.Time) ([]events.NumberingEvent, error) {
	switch c := c.(type) {
	case commands.GrantNumber:
		return decideGrantNumber(s, c, now)
	}
	return nil, nil
}

// decideGrantNumber gives the next number, without gaps: who has one keeps it.
func decideGrantNumber(s Numbering, c commands.GrantNumber, now time.Time) ([]events.NumberingEvent, error) {
	if s.granted(c.DocumentID) {
		return nil, nil
	}
	seq := s.Last + 1
	return []events.NumberingEvent{events.NumberGranted{
		SeriesID: c.SeriesID, OrgID: c.OrgID, Document: c.Document, DocumentID: c.DocumentID,
		SubscriberID: c.SubscriberID, Seq: seq, Number: fmt.Sprintf("%s-%04d", c.Prefix, seq), At: now,
	}}, nil
}

// numberingOpening is Numbering as a closed period hands it on: durable JSON. Recent is the newest first.
type numberingOpening struct {
	SeriesID id.Series       `json:"series"`
	OrgID    id.Organization `json:"org"`
	Last     int64           `json:"last"`
	Recent   []openingGrant  `json:"recent,omitempty"`
}

// openingGrant is Grant.
type openingGrant struct {
	DocumentID id.Any `json:"doc"`
	Seq        int64  `json:"seq"`
}

// closeNumbering makes the last event of a full period.
func closeNumbering(s Numbering) events.NumberingEvent {
	o := numberingOpening{SeriesID: s.SeriesID, OrgID: s.OrgID, Last: s.Last}
	for g := s.Recent; g != nil && len(o.Recent) < rememberedDocuments; g = g.Before {
		o.Recent = append(o.Recent, openingGrant{g.DocumentID, g.Seq})
	}
	opening, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("billing: write opening of series %s: %v", s.SeriesID, err)) // no field can fail to marshal
	}
	return events.NumberingPeriodClosed{SeriesID: s.SeriesID, Opening: opening}
}

// openingNumbering reads what closeNumbering wrote. It panics on anything else: a series that forgot its numbers would
// grant them twice.
func openingNumbering(opening []byte) Numbering {
	var o numberingOpening
	if err := json.Unmarshal(opening, &o); err != nil {
		panic(fmt.Sprintf("billing: read opening of series: %v", err))
	}
	s := Numbering{SeriesID: o.SeriesID, OrgID: o.OrgID, Last: o.Last}
	for i := len(o.Recent) - 1; i >= 0; i-- {
		s.Recent = &Grant{DocumentID: o.Recent[i].DocumentID, Seq: o.Recent[i].Seq, Before: s.Recent}
	}
	return s
}
