// Package accessapi serves the settings and states of access to the network.
package accessapi

import (
	"context"
	"encoding/json"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// Dunning serves /settings/dunning.
type Dunning struct {
	Policies accesscases.DunningPolicies
}

// Routes lists the endpoints of the dunning rules.
func (a Dunning) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/settings/dunning", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Read the dunning policies", Response: dunningResponse{}, Handle: a.get,
		},
		{
			Method: "PUT", Path: "/settings/dunning", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Change the dunning policies", Request: dunningRequest{}, Response: dunningResponse{},
			Handle: a.put,
		},
	}
}

// policyRequest is a policy. A field that is not given is that of the usual policy
// (docs/rules/access-dunning.md#default-policy).
type policyRequest struct {
	ReminderDays     *[]int             `json:"reminderDays,omitempty" doc:"days relative to the due date"`
	GraceDays        *int               `json:"graceDays,omitempty" doc:"from due to the walled garden"`
	WalledGardenDays *int               `json:"walledGardenDays,omitempty" doc:"to the suspension"`
	WriteOffDays     *int               `json:"writeOffDays,omitempty" doc:"from due to the proposal of a write-off"`
	MinimumDue       *httpapi.Amount    `json:"minimumDue,omitempty" doc:"smaller postpaid debts cause nothing"`
	NoCutDays        *[]string          `json:"noCutDays,omitempty" doc:"monday to sunday"`
	NoCutAfter       *map[string]string `json:"noCutAfter,omitempty" doc:"HH:MM by weekday, until midnight"`
	SkipHolidays     *bool              `json:"skipHolidays,omitempty"`
	MessageHours     *messageHours      `json:"messageHours,omitempty"`
}

// messageHours are local times of day as HH:MM.
type messageHours struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// dunningRequest changes the parts that are given; policies replace all named ones.
type dunningRequest struct {
	Default  *policyRequest           `json:"default,omitempty"`
	Policies map[string]policyRequest `json:"policies,omitempty"`
}

// policyResponse is a policy as it holds; no list is null.
type policyResponse struct {
	ReminderDays     []int             `json:"reminderDays"`
	GraceDays        int               `json:"graceDays"`
	WalledGardenDays int               `json:"walledGardenDays"`
	WriteOffDays     int               `json:"writeOffDays"`
	MinimumDue       json.Number       `json:"minimumDue"`
	NoCutDays        []string          `json:"noCutDays"`
	NoCutAfter       map[string]string `json:"noCutAfter"`
	SkipHolidays     bool              `json:"skipHolidays"`
	MessageHours     messageHours      `json:"messageHours"`
}

// dunningResponse is the answer of GET /settings/dunning (docs/rules/access-dunning.md#policy-form).
type dunningResponse struct {
	Default  policyResponse            `json:"default"`
	Policies map[string]policyResponse `json:"policies"`
}

// get answers with the rules that hold. They have an ETag also before anybody has set any.
func (a Dunning) get(ctx context.Context, c *httpapi.Call) error { return a.send(ctx, c) }

// put sets rules. They are read from the log, so that the answer shows them at once.
func (a Dunning) put(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[dunningRequest](c)
	if err != nil {
		return err
	}
	if _, err := a.Policies.Set(ctx, c.Asked(), in.change()); err != nil {
		return err
	}
	return a.send(ctx, c)
}

// send answers with the present rules and their revision.
func (a Dunning) send(ctx context.Context, c *httpapi.Call) error {
	s, err := a.Policies.Read(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	if s.Revision == commands.NoRevision {
		c.SetNoRevision()
	} else {
		c.SetRevision(s.Revision)
	}
	out := dunningResponse{Default: showPolicy(s.Default), Policies: map[string]policyResponse{}}
	for name, p := range s.Policies {
		out.Policies[name] = showPolicy(p)
	}
	return c.Send(200, out)
}

// showPolicy writes a policy with money in major units.
func showPolicy(p events.DunningPolicy) policyResponse {
	out := policyResponse{
		ReminderDays: append([]int{}, p.ReminderDays...), GraceDays: p.GraceDays, WalledGardenDays: p.WalledGardenDays,
		WriteOffDays: p.WriteOffDays, MinimumDue: p.MinimumDue.Number(), NoCutDays: []string{},
		NoCutAfter: map[string]string{}, SkipHolidays: p.SkipHolidays,
		MessageHours: messageHours{p.MessageHours.From.String(), p.MessageHours.To.String()},
	}
	for _, d := range p.NoCutDays {
		out.NoCutDays = append(out.NoCutDays, string(d))
	}
	for d, from := range p.NoCutAfter {
		out.NoCutAfter[string(d)] = from.String()
	}
	return out
}

// change is the request in the form of the use case.
func (r dunningRequest) change() accesscases.DunningChange {
	var in accesscases.DunningChange
	if r.Default != nil {
		p := r.Default.input()
		in.Default = &p
	}
	if r.Policies != nil {
		in.Policies = map[string]accesscases.DunningInput{}
		for name, p := range r.Policies {
			in.Policies[name] = p.input()
		}
	}
	return in
}

// input is the policy in the form of the use case.
func (r policyRequest) input() accesscases.DunningInput {
	in := accesscases.DunningInput{
		ReminderDays: r.ReminderDays, GraceDays: r.GraceDays, WalledGardenDays: r.WalledGardenDays,
		WriteOffDays: r.WriteOffDays, NoCutDays: r.NoCutDays, NoCutAfter: r.NoCutAfter, SkipHolidays: r.SkipHolidays,
	}
	if r.MinimumDue != nil {
		figure := r.MinimumDue.Figure()
		in.MinimumDue = &figure
	}
	if r.MessageHours != nil {
		in.MessageHours = &accesscases.MessageHours{From: r.MessageHours.From, To: r.MessageHours.To}
	}
	return in
}
