package boards

// Links to the other dashboards; they keep the time, the data source, the clusters and the job.
func toResource() link {
	return link{title: "This resource in depth", url: "/d/lockscope-resource?${__url_time_range}&${datasource:queryparam}&${job:queryparam}$LINKED&var-resource=${__field.labels.resource:percentencode}"}
}

func toNode() link {
	return link{title: "This node", url: "/d/lockscope-nodes?${__url_time_range}&${datasource:queryparam}&${job:queryparam}$LINKED&var-lock_node=${__field.labels.lock_node:percentencode}"}
}

// fromRow is for the column of a table that names what another dashboard is about; the row
// has a job.
func fromRow(title, board, label string) link {
	return link{title: title, url: "/d/" + board + "?${__url_time_range}&${datasource:queryparam}$LINKED&var-job=${__data.fields.job:percentencode}&var-" +
		label + "=${__data.fields." + label + ":percentencode}"}
}
