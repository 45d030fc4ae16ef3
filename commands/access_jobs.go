package commands

import "github.com/lastmile-isp/lastmile/internal/id"

// FollowDunningRules asks for a review of the subscriptions of an organization that owe something, because rules have
// changed. One job takes a part of them, after the given id, and the next job the rest.
type FollowDunningRules struct {
	OrgID    id.Organization `json:"orgId"`
	Position uint64          `json:"position"` // of the event that changed the rules; read models must have reached it
	After    id.Subscription `json:"after"`    // zero = from the first one on
}

func (FollowDunningRules) Kind() string { return "access_follow_dunning_rules" }

// ForgetTelemetry deletes what routers have reported about a person. A repeat deletes what has come since.
type ForgetTelemetry struct {
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Position     uint64          `json:"position,omitempty"` // of the event, which the directory must know; 0 = none
}

func (ForgetTelemetry) Kind() string { return "access_forget_telemetry" }
