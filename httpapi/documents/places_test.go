package documentsapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/documents"
)

// TestDocuments_AreReadWhenTheyHaveAPlace and not before: of many that are asked for at once two are read, some wait
// with empty hands, and the others are told to come again. Another organization has its turn.
func TestDocuments_AreReadWhenTheyHaveAPlace(t *testing.T) {
	t.Parallel()
	k := newDraftsKit(t)
	const places, line, late = 2, 16, 5
	reading, goOn := make(chan id.Organization, places+line+late), make(chan struct{})
	k.paybill = func(_ context.Context, org id.Organization) (documentscases.Paybill, error) {
		reading <- org // the lines are read
		<-goOn
		return documentscases.Paybill{}, nil
	}
	status := make(chan int)
	ask := func(host, as string, of id.Subscriber) {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet,
			k.URL()+"/subscribers/"+of.String()+"/statement/pdf", nil)
		req.Host = host
		req.Header.Set("Authorization", "Bearer "+as)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			status <- 0
			return
		}
		_ = res.Body.Close()
		status <- res.StatusCode
	}
	for range places + line + late {
		go ask(apitest.Acme, apitest.Support, k.amina)
	}
	for range late {
		if got := <-status; got != http.StatusTooManyRequests {
			t.Errorf("one who came late: %d", got)
		}
	}
	for range places {
		<-reading
	}
	go ask(apitest.Other, apitest.OtherAdmin, k.brian)
	if n := len(reading); n > 0 {
		t.Errorf("%d more are read", n)
	}
	close(goOn)
	for range line + places + 1 {
		if got := <-status; got != http.StatusOK {
			t.Errorf("one of those who waited: %d", got)
		}
	}
}
