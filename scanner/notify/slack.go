package notify

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/lockscope/lockscope/scanner"
)

// Slack's limits, and those of the parts of a line. Escaping turns one character into at
// most five, and the line still fits a block.
const (
	maxSlackText     = 3000 // characters; bytes are never fewer
	maxSlackBlocks   = 50
	maxSlackKey      = 128
	maxSlackName     = 64
	maxSlackEvidence = 160
	maxSlackLink     = 1000
)

// slackMessage is the body of a request to an incoming webhook.
type slackMessage struct {
	Text        string       `json:"text"` // of the notification; the channel shows the blocks
	Blocks      []slackBlock `json:"blocks"`
	UnfurlLinks bool         `json:"unfurl_links"`
}

type slackBlock struct {
	Type string    `json:"type"`
	Text slackText `json:"text"`
}

// slackText is verbatim: Slack turns no part of a key into a link or a mention.
type slackText struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Verbatim bool   `json:"verbatim"`
}

// slack posts a message when a finding is new or resolved.
type slack struct {
	config *config

	mu     sync.Mutex
	posted map[identity]bool // findings of the last report that Slack took
}

func (s *slack) messages(r scanner.Report) ([]message, error) {
	now := make(map[identity]bool, len(r.Findings))
	var fresh []scanner.Finding
	s.mu.Lock()
	for i := range r.Findings {
		id := identityOf(&r.Findings[i])
		if now[id] = true; !s.posted[id] {
			fresh = append(fresh, r.Findings[i])
		}
	}
	s.mu.Unlock()
	gone := ended(&r)
	if len(fresh)+len(gone) == 0 && !s.config.always {
		return nil, nil
	}
	body, err := json.Marshal(s.message(&r, fresh, gone))
	if err != nil {
		return nil, err
	}
	return []message{{body: body, taken: func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.posted = now
	}}}, nil
}

// message writes one block for each class, so the number of blocks has a bound.
func (s *slack) message(r *scanner.Report, fresh, gone []scanner.Finding) slackMessage {
	headline := s.headline(r, fresh, gone)
	m := slackMessage{Text: headline, Blocks: []slackBlock{section("*" + headline + "*")}}
	lines, inferred := make(map[scanner.Class][]string), make(map[scanner.Class]bool)
	var classes []scanner.Class // in the order of the report: worst first
	for i := range fresh {
		class := fresh[i].Class
		if lines[class] == nil {
			classes = append(classes, class)
		}
		lines[class], inferred[class] = append(lines[class], slackLine(&fresh[i])), inferred[class] || fresh[i].Inferred
	}
	for _, class := range classes {
		title := fmt.Sprintf("*%s* (%s): a Redis lock %s", s.alertLink(class), mrkdwn(string(class)),
			complaint(&scanner.Finding{Class: class, Inferred: inferred[class]}))
		m.Blocks = append(m.Blocks, section(title, lines[class]...))
	}
	if len(gone) > 0 {
		var lines []string
		for i := range gone {
			lines = append(lines, fmt.Sprintf("• %s (%s)", slackPlace(&gone[i]), mrkdwn(string(gone[i].Class))))
		}
		m.Blocks = append(m.Blocks, section("*Resolved*", lines...))
	}
	if text := unread(r); text != "" {
		m.Blocks = append(m.Blocks, section(text))
	}
	m.Blocks = m.Blocks[:min(len(m.Blocks), maxSlackBlocks)]
	return m
}

func (s *slack) headline(r *scanner.Report, fresh, gone []scanner.Finding) string {
	name := "lockscope"
	if s.config.instance != "" {
		name += " (" + mrkdwn(clip(scanner.KeyText(s.config.instance), maxSlackName)) + ")"
	}
	return fmt.Sprintf("%s: %s, %d new, %d resolved", name, plural(len(r.Findings), "finding"), len(fresh), len(gone))
}

// unread counts the findings that the report leaves out and the gaps of the sweep.
func unread(r *scanner.Report) string {
	var parts []string
	if r.Overflow > 0 {
		parts = append(parts, fmt.Sprintf("%s over the limit, counted and not listed.", plural(r.Overflow, "finding")))
	}
	if gaps := len(r.Incomplete()); gaps > 0 {
		parts = append(parts, fmt.Sprintf("The sweep is incomplete: %s.", plural(gaps, "gap")))
	}
	return strings.Join(parts, " ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (s *slack) alertLink(class scanner.Class) string {
	if url := mrkdwn(s.config.runbookFor(class)); url != "" && len(url) <= maxSlackLink {
		return "<" + url + "|" + AlertName(class) + ">"
	}
	return AlertName(class)
}

func slackLine(f *scanner.Finding) string {
	line := "• " + slackPlace(f)
	if f.Hold.Instance != "" {
		line += ", held by " + mrkdwn(clip(scanner.KeyText(f.Hold.Instance), maxSlackName))
	}
	return line + ": " + mrkdwn(clip(scanner.KeyText(f.Evidence), maxSlackEvidence))
}

func slackPlace(f *scanner.Finding) string {
	place := "`" + code(clipUnique(f.Lock(), maxSlackKey)) + "` on " +
		mrkdwn(clip(scanner.KeyText(f.Node), maxSlackName))
	if f.Group != "" {
		place += " of " + mrkdwn(clip(scanner.KeyText(f.Group), maxSlackName))
	}
	return place
}

// section fills a block with as many lines as it holds, and counts the rest.
func section(title string, lines ...string) slackBlock {
	const more = "\n… and 1234567890 more"
	text := title
	for i, line := range lines {
		if len(text)+len("\n")+len(line)+len(more) > maxSlackText {
			text += fmt.Sprintf("\n… and %d more", len(lines)-i)
			break
		}
		text += "\n" + line
	}
	return slackBlock{Type: "section", Text: slackText{Type: "mrkdwn", Text: text, Verbatim: true}}
}

var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// mrkdwn escapes the characters with which Slack's links and mentions begin and end.
func mrkdwn(s string) string { return slackEscapes.Replace(s) }

// code is mrkdwn between backticks. Slack cannot escape a backtick there: a similar letter
// stands for it.
func code(s string) string { return strings.ReplaceAll(mrkdwn(s), "`", "ˋ") }
