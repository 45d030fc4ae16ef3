package subscribers

import (
	"cmp"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// WholeDays are the local days that the period of an open invoice has when it is paid whole at an instant. Its price
// buys so many, also when money buys only some of them: a month from 28 February has 31 where the anniversary is the
// 31st. served is as in commands.ExtendSubscription. It is 0 for an invoice of no open period.
// Source: docs/rules/subscribers.md#partial-payment.
func (s Subscription) WholeDays(invoice id.Invoice, paidAt time.Time, served []events.TimeSpan) int {
	at := s.find(invoice)
	if at < 0 || !s.Periods[at].open() {
		return 0
	}
	p, course := s.Periods[at], s.Course()
	from, anchor, begun := course.End, course.Anchor, cmp.Or(course.Begun, course.End)
	if begins, _ := s.begins(p, course, paidAt, served); begins.After(from) {
		from, anchor, begun = begins, 0, begins
	}
	return s.daysIn(Span{from, p.Unit.Next(from, anchor, begun, s.zone())})
}
