package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// hadNoPower is an outage of the demo's past: somebody said that the hill was without power, and its customers were
// given a day. A second preview shows why nobody gets more for the same time.
func hadNoPower(ctx context.Context, s *demoSeed, _ *router.Simulator) error {
	device, err := s.routerNamed(ctx, "hill-east")
	if err != nil || device == "" {
		return err
	}
	ended := s.app.clock.Now().Truncate(time.Hour).Add(-2 * time.Hour)
	made, err := s.admin.call(ctx, http.MethodPost, "/outages", "demo-outage", map[string]any{
		"deviceId": device, "title": "Hill East has no power",
		"message":   "The transformer of the village has burnt out. A generator is on its way.",
		"startedAt": ended.Add(-9 * time.Hour), "expectedEnd": ended.Add(-time.Hour),
		"tell": false, // it is long over
	})
	if err != nil {
		return unlessDone(err)
	}
	at := "/outages/" + made.text("id")
	if _, err := s.admin.call(ctx, http.MethodPost, at+"/end", "demo-outage-end",
		map[string]any{"endedAt": ended}); err != nil {
		return err
	}
	for _, key := range []string{"demo-compensation", "demo-compensation-again"} {
		preview, err := s.admin.call(ctx, http.MethodPost, "/compensations", key, map[string]any{
			"outageId": made.text("id"), "give": "proportional", "reason": "Hill East had no power.",
		})
		var no *apiError
		if errors.As(err, &no) && no.Code == "compensation_empty" {
			return nil // nobody was online there on that day
		}
		if err != nil {
			return err
		}
		if key == "demo-compensation-again" {
			return nil
		}
		if _, err := s.admin.call(ctx, http.MethodPost, "/compensations/"+preview.text("id")+"/apply", "",
			nil); err != nil {
			return err
		}
		if err := s.app.settled(ctx); err != nil {
			return err
		}
	}
	return nil
}

// routerNamed gives the id of a router; "" when there is none with the name.
func (s *demoSeed) routerNamed(ctx context.Context, name string) (string, error) {
	list, err := s.all(ctx, "/nas/devices")
	for _, device := range list {
		if device.text("name") == name {
			return device.text("id"), err
		}
	}
	return "", err
}
