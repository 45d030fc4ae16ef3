package subscribersapi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// planRates are speeds in kbit/s.
type planRates struct {
	Down  int64      `json:"down"`
	Up    int64      `json:"up"`
	Burst *planBurst `json:"burst,omitempty" doc:"a higher speed for a short time"`
}

// planBurst is a burst in kbit/s: it is given until the average of the last seconds passes the threshold.
type planBurst struct {
	Down          int64 `json:"down"`
	Up            int64 `json:"up"`
	ThresholdDown int64 `json:"thresholdDown"`
	ThresholdUp   int64 `json:"thresholdUp"`
	Seconds       int64 `json:"seconds"`
}

// planSpeed is the speed after a cap, in kbit/s.
type planSpeed struct {
	Down int64 `json:"down"`
	Up   int64 `json:"up"`
}

// planIPv6 names pools of the router.
type planIPv6 struct {
	Pool          string `json:"pool,omitempty" doc:"of the prefix of the link"`
	DelegatedPool string `json:"delegatedPool,omitempty" doc:"of the prefix for the customer's own network"`
}

// planCap is the traffic that a plan includes, both directions together.
type planCap struct {
	Bytes    int64      `json:"bytes" doc:"0 in a change removes the cap"`
	Period   string     `json:"period,omitempty" enum:"day,month"`
	Then     string     `json:"then,omitempty" enum:"throttle,stop"`
	Throttle *planSpeed `json:"throttle,omitempty" doc:"only with throttle"`
}

// planWindow gives other speeds at some hours of the week, in the organization's time zone.
type planWindow struct {
	Days  []string  `json:"days" doc:"monday to sunday: the days on which the window begins"`
	From  string    `json:"from" doc:"HH:MM"`
	To    string    `json:"to" doc:"HH:MM, exclusive; on the next day when it is not after the beginning"`
	Rates planRates `json:"rates"`
}

// planAccess are the fields of a plan that only the network needs (docs/rules/subscribers.md#plan-fields).
type planAccess struct {
	SessionLimit  *int          `json:"sessionLimit,omitempty" doc:"1 to 16; 1 when absent"`
	OnLimit       *string       `json:"onLimit,omitempty" enum:"replace,refuse" doc:"replace when absent"`
	Pool          *string       `json:"pool,omitempty" doc:"address pool of the router"`
	IPv6          *planIPv6     `json:"ipv6,omitempty"`
	Cap           *planCap      `json:"cap,omitempty"`
	Schedule      *[]planWindow `json:"schedule,omitempty" doc:"windows never overlap"`
	DunningPolicy *string       `json:"dunningPolicy,omitempty" doc:"the default policy when absent"`
}

// weekdays are the names of the days, by their number.
var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// change is the form in which the use case takes access terms. Days and times that cannot be read become -1, which the
// command refuses with the name of the field.
func (a planAccess) change(rates *planRates) subscriberscases.AccessChange {
	out := subscriberscases.AccessChange{
		SessionLimit: a.SessionLimit, OnLimit: (*events.OnLimit)(a.OnLimit), Pool: a.Pool,
		DunningPolicy: a.DunningPolicy,
	}
	if rates != nil {
		out.Burst = new(burstOf(rates.Burst))
	}
	if a.IPv6 != nil {
		out.IPv6Pool, out.IPv6DelegatedPool = &a.IPv6.Pool, &a.IPv6.DelegatedPool
	}
	if a.Cap != nil {
		out.Cap = &events.Cap{
			Bytes: a.Cap.Bytes, Period: a.Cap.Period, Then: events.CapAct(a.Cap.Then),
			Throttle: events.Speed(null.Zero(a.Cap.Throttle)),
		}
	}
	if a.Schedule != nil {
		windows := make([]events.ScheduleWindow, len(*a.Schedule))
		for i, w := range *a.Schedule {
			windows[i] = events.ScheduleWindow{
				From: minuteOf(w.From), To: minuteOf(w.To), Speed: events.Speed{Down: w.Rates.Down, Up: w.Rates.Up},
				Burst: burstOf(w.Rates.Burst),
			}
			for _, day := range w.Days {
				windows[i].Days = append(windows[i].Days,
					time.Weekday(slices.Index(weekdays, strings.ToLower(strings.TrimSpace(day)))))
			}
		}
		out.Schedule = &windows
	}
	return out
}

// burstOf is a burst as terms keep it; nil is none.
func burstOf(b *planBurst) events.Burst { return events.Burst(null.Zero(b)) }

// minuteOf reads "HH:MM", from "00:00" to "24:00", as minutes after midnight; -1 for anything else.
func minuteOf(text string) int {
	if text == "24:00" {
		return 24 * 60
	}
	at, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return -1
	}
	return at.Hour()*60 + at.Minute()
}

// showRates writes the speeds with their burst.
func showRates(down, up int64, b events.Burst) planRates {
	return planRates{Down: down, Up: up, Burst: (*planBurst)(null.Of(b))}
}

// showCap writes a cap; nil when there is none.
func showCap(c events.Cap) *planCap {
	if c.Bytes == 0 {
		return nil
	}
	return &planCap{
		Bytes: c.Bytes, Period: c.Period, Then: string(c.Then), Throttle: (*planSpeed)(null.Of(c.Throttle)),
	}
}

// showAccessTerms writes access terms; session limit and onLimit are always shown.
func showAccessTerms(a events.AccessTerms) planAccess {
	a = a.WithDefaults()
	out := planAccess{
		SessionLimit: &a.SessionLimit, OnLimit: new(string(a.OnLimit)), Pool: null.Of(a.Pool),
		IPv6:          null.Of(planIPv6{Pool: a.IPv6Pool, DelegatedPool: a.IPv6DelegatedPool}),
		DunningPolicy: null.Of(a.DunningPolicy), Cap: showCap(a.Cap),
	}
	if len(a.Schedule) == 0 {
		return out
	}
	windows := make([]planWindow, len(a.Schedule))
	for i, w := range a.Schedule {
		windows[i] = planWindow{
			From: timeOf(w.From), To: timeOf(w.To), Rates: showRates(w.Speed.Down, w.Speed.Up, w.Burst),
		}
		for _, day := range w.Days {
			windows[i].Days = append(windows[i].Days, weekdays[day])
		}
	}
	out.Schedule = &windows
	return out
}

// timeOf writes minutes after midnight as "HH:MM".
func timeOf(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }
