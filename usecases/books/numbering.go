package bookscases

import (
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// series is one series of numbers. Its numbers begin at 1.
type series struct {
	last int64
	gaps []string // where a number does not follow the one before it
}

// grant is a number that was given to a document.
type grant struct {
	document id.Any
	times    int
	at       time.Time
}

// document is one that has a number.
type document struct {
	id      id.Any // of the document that the number was granted to
	stray   bool   // the document was made for a number that its owner could not use
	account id.Subscriber
}

// takeNumber enters a granted number of the organization.
func (b *Books) takeNumber(v events.NumberingEvent) {
	e, ok := v.(events.NumberGranted)
	if !ok || e.OrgID != b.org || b.org.IsZero() {
		return
	}
	s := b.series[e.SeriesID]
	if s == nil {
		s = &series{}
		b.series[e.SeriesID] = s
	}
	if e.Seq != s.last+1 {
		s.gaps = append(s.gaps, fmt.Sprintf("%s (%d) follows %d", e.Number, e.Seq, s.last))
	}
	s.last = e.Seq
	if !b.part.hasText(e.Number) {
		return
	}
	g := b.grants[e.Number]
	b.grants[e.Number] = grant{document: e.DocumentID, times: g.times + 1, at: e.At}
}

// takeDocument enters a document of the organization that has a number.
func (b *Books) takeDocument(v events.AccountEvent) {
	switch e := v.(type) {
	case events.InvoiceIssued:
		b.number(e.Number, document{id: id.As[id.Any](e.InvoiceID), account: e.SubscriberID})
	case events.InvoiceVoided:
		d := document{id: id.As[id.Any](e.InvoiceID), account: e.SubscriberID}
		if !e.StrayOf.IsZero() {
			d.id, d.stray = id.As[id.Any](e.StrayOf), true
		}
		b.number(e.Number, d)
	case events.CreditNoteIssued:
		b.number(e.Number, document{id: id.As[id.Any](e.CreditNoteID), account: e.SubscriberID})
	case events.CreditNoteVoided:
		b.number(e.Number, document{id: id.As[id.Any](e.StrayOf), stray: true, account: e.SubscriberID})
	default: // the other events say nothing about this
	}
}

// number notes that a document has a number. A document that is voided after its issue has the same one.
func (b *Books) number(number string, d document) {
	if number == "" || !b.part.hasText(number) {
		return
	}
	for _, known := range b.documents[number] {
		if known == d {
			return
		}
	}
	b.documents[number] = append(b.documents[number], d)
}

// checkNumbers compares series, grants and documents.
func (b *Books) checkNumbers(f *findings) {
	for of, s := range b.series {
		for _, gap := range s.gaps {
			if b.part.first() {
				f.add(NumberGap, gap, about("series", of))
			}
		}
	}
	for number, g := range b.grants {
		on := About{"document", g.document}
		list := b.documents[number]
		switch {
		case g.times > 1:
			f.add(NumberRepeated, fmt.Sprintf("%s was granted %d times", number, g.times), on)
		case len(list) == 0 && f.old(g.at):
			f.add(NumberWithoutDocument, number, on)
		case len(list) > 0 && list[0].id != g.document:
			f.add(NumberOfOtherDocument, number, on, About{"document", list[0].id}, about("account", list[0].account))
		}
	}
	for number, list := range b.documents {
		if len(list) > 1 {
			f.add(NumberRepeated, number+" is on several documents", About{"document", list[0].id},
				About{"document", list[1].id})
		}
		if b.grants[number].times == 0 {
			f.add(DocumentWithoutNumber, number, About{"document", list[0].id}, about("account", list[0].account))
		}
	}
}
