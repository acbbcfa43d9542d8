package bench_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser starts a headless Chromium, or skips the test where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("the page is tested in Chromium, which is not installed here")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WindowSize(1400, 1000))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to run as root with its sandbox
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// complaints are what a page should not do: errors, messages, requests.
type complaints struct {
	mu   sync.Mutex
	list []string
	// asked counts requests for the page itself.
	asked int
}

func (c *complaints) add(format string, args ...any) {
	c.list = append(c.list, fmt.Sprintf(format, args...))
}

// listen collects what the page of a context does from now on.
func (c *complaints) listen(ctx context.Context, page string) error {
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		return err
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		return err
	}
	return chromedp.Listen(ctx, func(event any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			c.add("exception: %s", e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			c.add("console: %s", e.Type)
		case *log.EventEntryAdded:
			c.add("log: %s", e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if e.Request.URL == page {
				c.asked++
			} else if !strings.HasPrefix(e.Request.URL, "data:") {
				c.add("request: %s", e.Request.URL)
			}
		}
	})
}

func TestPageInBrowser(t *testing.T) {
	page := "file://" + writePage(t)
	ctx := browser(t)
	var bad complaints
	if err := bad.listen(ctx, page); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(page), chromedp.WaitVisible(chromedp.CSS("#table tbody tr"))); err != nil {
		t.Fatal(err)
	}
	for ask, want := range map[string]string{
		`document.querySelectorAll("#ratios .dot").length`:     "32",
		`document.querySelectorAll("#roofline .point").length`: "31",
		// Whatever is right of the line at 1 is good.
		`[...document.querySelectorAll(".dot")].every((d) => d.classList.contains("slower") === (d.cx.baseVal.value < document.querySelector(".one").x1.baseVal.value - 0.1))`: "true",
		// The axis is logarithmic: lines at powers of two are as far from each other.
		`(() => {
			const at = [...document.querySelectorAll("#ratios .grid")].map((l) => l.x1.baseVal.value);
			return at.length > 3 && at.every((x, i) => i < 2 || Math.abs(x - 2 * at[i - 1] + at[i - 2]) < 0.3);
		})()`: "true",
		`document.querySelector("#ratios .dot.best").parentElement.querySelector("title").textContent`: "0.33 beside fast: 1.00 µs, the op 3.00 µs",
		`document.images.length`: "0",
	} {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+ask+")"))
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", ask, got, err, want)
		}
	}
	picture(ctx, t, "light", 1400)
	picture(ctx, t, "dark", 1400)
	picture(ctx, t, "light", 400)
	width, err := chromedp.Run(ctx, chromedp.Evaluate[string](`String(document.documentElement.scrollWidth)`))
	if err != nil || width != "400" {
		t.Errorf("on a phone: %s pixels wide, %v", width, err)
	}
	bad.mu.Lock()
	defer bad.mu.Unlock()
	if len(bad.list) > 0 || bad.asked == 0 {
		t.Errorf("the page was asked for %d times, and did what it should not:\n%s", bad.asked, strings.Join(bad.list, "\n"))
	}
}

// picture keeps what the page looks like, for people: go test -artifacts -outputdir DIR.
func picture(ctx context.Context, t *testing.T, scheme string, width int64) {
	t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 1000)); err != nil {
		t.Fatal(err)
	}
	data, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(t.ArtifactDir(), fmt.Sprintf("%s-%d.png", scheme, width)), data, 0o600)
	}
	if err != nil || len(data) < 10_000 {
		t.Errorf("%s: %d bytes, %v", scheme, len(data), err)
	}
}
