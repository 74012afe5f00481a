package lesson

// sentence is what the player says, in English and in Chinese.
type sentence [2]string

func (s sentence) in(language string) string {
	if language == "zh" {
		return s[1]
	}
	return s[0]
}

var (
	sayPage     = sentence{"The cluster of this lesson, live in a browser: %s", "本课的集群，可在浏览器中实时查看：%s"}
	sayRun      = sentence{"[Enter] run, s skip, q quit:", "[回车] 运行，s 跳过，q 退出："}
	sayContinue = sentence{"[Enter] go on, q quit:", "[回车] 继续，q 退出："}
	sayGuess    = sentence{"Your prediction (a letter), [Enter] just run, s skip, q quit:", "你的预测（输入字母），[回车] 直接运行，s 跳过，q 退出："}
	sayRight    = sentence{"Right, it is %s.", "正确，答案是 %s。"}
	sayWrong    = sentence{"Not %s: it is %s.", "不是 %s，而是 %s。"}
	sayAnswer   = sentence{"It is %s.", "答案是 %s。"}
	sayScore    = sentence{"%d of %d predictions were right.", "预测正确 %d 次，共 %d 次。"}
	sayDone     = sentence{"Next: kubesim lesson %d", "下一课：kubesim lesson %d"}
)
