package main

import (
	"context"
	"fmt"
	"net/http"
)

// demoRequest is a support request of the demo: the answer is empty where the customer waits for one.
type demoRequest struct{ customer, subject, text, answer string }

// demoRequests has the matters about which customers of the demo have written.
var demoRequests = []demoRequest{
	{
		"hibiscus", "No internet since Tuesday", "All lamps of the box are on, but no page opens. What can I do?", "",
	},
	{
		"acacia", "Another plan", "We are four now, and the evenings are slow. Which plan do you advise?",
		"Home 50 would do. It begins with the next period when you tell us so.",
	},
}

// makeSupport writes down what customers ask, and answers some of it.
func (s *demoSeed) makeSupport(ctx context.Context) error {
	for _, r := range demoRequests {
		page, err := s.admin.call(ctx, http.MethodGet, "/subscribers?limit=1&q="+r.customer, "", nil)
		if err != nil {
			return err
		}
		found := page.list("data")
		if len(found) == 0 {
			return fmt.Errorf("there is no customer %s for a support request", r.customer)
		}
		made, err := s.admin.call(ctx, http.MethodPost, "/support-requests", "demo-support-"+r.customer,
			map[string]string{"subscriberId": found[0].text("id"), "subject": r.subject, "text": r.text})
		if err != nil {
			return err
		}
		if r.answer == "" {
			continue
		}
		_, err = s.admin.call(ctx, http.MethodPost, "/support-requests/"+made.text("id")+"/messages",
			"demo-support-answer-"+r.customer, map[string]string{"text": r.answer})
		if err != nil {
			return err
		}
	}
	return nil
}
