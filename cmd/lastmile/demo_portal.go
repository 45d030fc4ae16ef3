package main

import (
	"context"
	"fmt"
	"net/http"
)

// portalSees are the customers, by name, whom the first one's phone sees in the portal: one who has paid and is online,
// and one who owes.
var portalSees = []string{"acacia", "hibiscus"}

// makePortal lets a person who pays for two houses into the portal. The code of the sign-in is among the messages that
// development keeps.
func (s *demoSeed) makePortal(ctx context.Context) error {
	phone := "+" + demoPhone(1)
	for _, name := range portalSees {
		page, err := s.admin.call(ctx, http.MethodGet, "/subscribers?limit=1&q="+name, "", nil)
		if err != nil {
			return err
		}
		found := page.list("data")
		if len(found) == 0 {
			return fmt.Errorf("there is no customer %s for the portal", name)
		}
		_, err = s.admin.call(ctx, http.MethodPost, "/subscribers/"+found[0].text("id")+"/portal-access",
			"demo-portal-"+name, map[string]string{"phone": phone})
		if err != nil {
			return err
		}
	}
	return nil
}
