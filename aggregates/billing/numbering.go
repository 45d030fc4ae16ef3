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

// NumberSeries defines the number series: one stream for each organization and type of document. A series is never
// shown to clients, so a missing one is the plain not_found.
func NumberSeries() aggregates.Definition[Numbering, commands.NumberingCommand, events.NumberingEvent] {
	return aggregates.Definition[Numbering, commands.NumberingCommand, events.NumberingEvent]{
		Category: commands.NumberingCategory, Missing: commands.ErrNotFound, Evolve: evolveNumbering,
		Decide: decideNumbering, Owner: ownerNumbering, Close: closeNumbering,
		Commands: []commands.NumberingCommand{commands.GrantNumber{}},
	}
}

// rememberedDocuments is the number of newest documents for which a repeated request gives no second number. Requests
// are repeated within minutes, while a series grows for years.
const rememberedDocuments = 1000

// Numbering is the state of one series. The zero value is a series that has granted no number.
type Numbering struct {
	SeriesID id.Series
	OrgID    id.Organization
	Last     int64  // highest number granted; the first is 1
	Recent   *Grant // the newest grant, linked to the older ones
}

// Grant is the number of one document. Grants form a linked list that only grows, so that states share it and copy
// nothing.
type Grant struct {
	DocumentID id.Any
	Seq        int64
	Before     *Grant
}

// ownerNumbering never changes: the first grant sets it.
func ownerNumbering(s Numbering) id.Organization { return s.OrgID }

// granted reports whether one of the remembered documents is this one.
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

// evolveNumbering applies one recorded event; each grant moves Last.
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

// decideNumbering only dispatches.
func decideNumbering(s Numbering, c commands.NumberingCommand, now time.Time) ([]events.NumberingEvent, error) {
	switch c := c.(type) {
	case commands.GrantNumber:
		return decideGrantNumber(s, c, now)
	}
	return nil, nil
}

// decideGrantNumber grants the next number without gaps. A document that has a number gets no other one.
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

// numberingOpening is the durable JSON form of Numbering. Recent is ordered from the newest to the oldest.
type numberingOpening struct {
	SeriesID id.Series       `json:"series"`
	OrgID    id.Organization `json:"org"`
	Last     int64           `json:"last"`
	Recent   []openingGrant  `json:"recent,omitempty"`
}

// openingGrant is the durable form of Grant. Names of fields never change.
type openingGrant struct {
	DocumentID id.Any `json:"doc"`
	Seq        int64  `json:"seq"`
}

// closeNumbering keeps the newest rememberedDocuments grants and drops the older ones.
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

// openingNumbering decodes the JSON of closeNumbering. It panics on anything else, because a series that forgot its
// numbers would grant them twice.
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
