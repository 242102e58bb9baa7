package zaplog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/lockscope/lockscope/exporter/zaplog"
)

func ExampleNew() {
	var out bytes.Buffer // os.Stderr in a program
	logger, flush, err := zaplog.New(&out, zaplog.WithLevel("info"))
	if err != nil {
		log.Fatal(err)
	}
	logger.Debug("not logged")
	logger.Info("lock acquired", "resource", "order:1001", "waited", 1500*time.Millisecond)
	if err := flush(); err != nil {
		log.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal(out.Bytes(), &record); err != nil {
		log.Fatal(err)
	}
	fmt.Println(record["level"], record["msg"], record["resource"], record["waited"])
	// Output:
	// info lock acquired order:1001 1.5s
}
