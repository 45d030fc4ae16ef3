package events

import "time"

// OnLimit says what happens to a sign-in when a subscription has as many sessions as its plan allows.
type OnLimit string

// The ways. The empty text, in terms recorded before there was a choice, means ReplaceSession.
const (
	ReplaceSession OnLimit = "replace" // the new one is let in and the oldest session is ended
	RefuseSession  OnLimit = "refuse"  // the new one is refused
)

// CapAct says what happens to a customer who has used a cap up.
type CapAct string

// The acts. Both last until the cap is reset.
const (
	CapThrottle CapAct = "throttle" // to the speed that the cap names
	CapStop     CapAct = "stop"
)

// AccessTerms are the part of a plan's terms that only the network needs. The zero value is a plan that was made before
// there were any: WithDefaults says what it means.
type AccessTerms struct {
	SessionLimit int     `json:"sessionLimit,omitempty"` // 1 to 16; 0 = recorded without one, which means 1
	OnLimit      OnLimit `json:"onLimit,omitempty"`
	Burst        Burst   `json:"burst,omitzero"` // beside the rates of the plan; zero = none
	// Names of address pools in the router, as they are there. Empty = the router decides by its own profile.
	Pool              string           `json:"pool,omitempty"`
	IPv6Pool          string           `json:"ipv6Pool,omitempty"`          // of the prefix of the link
	IPv6DelegatedPool string           `json:"ipv6DelegatedPool,omitempty"` // of the prefix for the customer's network
	Cap               Cap              `json:"cap,omitzero"`                // zero = none
	Schedule          []ScheduleWindow `json:"schedule,omitempty"`          // windows never overlap
	// DunningPolicy is a name in the organization's dunning settings. Empty = the default policy.
	DunningPolicy string `json:"dunningPolicy,omitempty"`
}

// WithDefaults fills in what terms that were recorded without access terms mean.
func (a AccessTerms) WithDefaults() AccessTerms {
	a.SessionLimit = max(a.SessionLimit, 1)
	if a.OnLimit == "" {
		a.OnLimit = ReplaceSession
	}
	return a
}

// Speed is a pair of speeds in kbit/s, from the customer's point of view. Zero = none.
type Speed struct {
	Down int64 `json:"down,omitempty"`
	Up   int64 `json:"up,omitempty"`
}

// Burst is a higher speed for a short time: it is given until the average of Seconds passes the threshold. Speeds and
// thresholds are in kbit/s. The zero value is no burst.
type Burst struct {
	Down          int64 `json:"down,omitempty"`
	Up            int64 `json:"up,omitempty"`
	ThresholdDown int64 `json:"thresholdDown,omitempty"`
	ThresholdUp   int64 `json:"thresholdUp,omitempty"`
	Seconds       int64 `json:"seconds,omitempty"`
}

// Cap is the traffic that a plan includes, both directions together. The zero value is no cap.
type Cap struct {
	Bytes    int64  `json:"bytes,omitempty"`
	Period   string `json:"period,omitempty"` // "day" or "month", local in the organization's time zone
	Then     CapAct `json:"then,omitempty"`
	Throttle Speed  `json:"throttle,omitzero"` // of CapThrottle only
}

// ScheduleWindow replaces the speeds of a plan at some hours of the week, in the organization's time zone. A window
// whose end is not after its beginning ends on the next day; it belongs to the day on which it begins.
type ScheduleWindow struct {
	Days  []time.Weekday `json:"days"` // on which it begins; 0 = Sunday
	From  int            `json:"from"` // minutes after midnight, 0 to 1439
	To    int            `json:"to"`   // minutes after midnight, 0 to 1440, exclusive
	Speed Speed          `json:"speed"`
	Burst Burst          `json:"burst,omitzero"`
}
